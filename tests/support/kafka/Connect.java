// What Kafka Connect's JSON converter reads from messages that carry their schemas: a line for each line of standard input.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;

class Connect {
  public static void main(String[] arguments) throws Exception {
    JsonConverter converter = new JsonConverter();
    converter.configure(Map.of("schemas.enable", "true"), false);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      SchemaAndValue read = converter.toConnectData("topic", line.getBytes(StandardCharsets.UTF_8));
      Struct value = (Struct) read.value();
      value.validate();
      if (value.schema().field("source") != null)
        System.out.println(read.schema().name() + " " + value.get("op") + " " + value.get("before") + " "
          + value.get("after"));
      else
        System.out.println(read.schema().name() + " " + value);
    }
  }
}
