import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.index.reindex.ReindexPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/**
 * One OpenSearch node that is a cluster by itself, without security, on loopback. Its only argument is its home, which
 * has config/opensearch.yml; once it answers, the file `started` is there.
 */
public final class SearchNode extends Node {
  private SearchNode(Environment environment) {
    super(environment, List.of(Netty4Plugin.class, ReindexPlugin.class), false);
  }

  public static void main(String[] arguments) throws Exception {
    Path home = Path.of(arguments[0]);
    Settings settings = Settings.builder().put("path.home", home).build();
    SearchNode node = new SearchNode(
        InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), home.resolve("config"), () -> "node"));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        node.close();
      } catch (Exception failure) {
        failure.printStackTrace();
      }
    }));
    try {
      node.start();
    } catch (Exception failure) { // such as that of a port that is taken: other threads would keep the process
      failure.printStackTrace();
      System.exit(1);
    }
    Files.createFile(home.resolve("started"));
    Thread.currentThread().join();
  }
}
