// Which partition Java's default partitioner chooses: a line for each key of standard input, of so many partitions.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

class Partitions {
  public static void main(String[] arguments) throws Exception {
    int count = Integer.parseInt(arguments[0]);
    BufferedReader keys = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    StringBuilder text = new StringBuilder();
    for (String key = keys.readLine(); key != null; key = keys.readLine())
      text.append(BuiltInPartitioner.partitionForKey(key.getBytes(StandardCharsets.UTF_8), count)).append('\n');
    System.out.print(text);
  }
}
