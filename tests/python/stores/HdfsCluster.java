import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.SafeModeAction;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;

/**
 * An HDFS with one DataNode and two NameNodes, of which the first is active: `java HdfsCluster.java FOLDER`. It prints the
 * ports of the NameNodes, then answers each line of its input by `done` and what was found, and ends with the input.
 */
public final class HdfsCluster {
  public static void main(String[] arguments) throws Exception {
    PrintStream answers = System.out;
    // what Hadoop logs
    System.setOut(System.err);
    Configuration settings = new Configuration();
    settings.set("hdfs.minidfs.basedir", arguments[0]);
    // the smallest that there is: files of the tests have several
    settings.set("dfs.blocksize", "1048576");
    // no test cuts the power
    settings.set("dfs.namenode.edits.noeditlogchannelflush", "true");
    // a client that asks too early whether the DataNode has told of a block waits for half a second
    settings.set("dfs.namenode.file.close.num-committed-allowed", "1");
    MiniDFSCluster cluster = new MiniDFSCluster.Builder(settings)
        .nnTopology(MiniDFSNNTopology.simpleHATopology()).numDataNodes(1).build();
    cluster.transitionToActive(0);
    cluster.waitActive(0);
    DistributedFileSystem files = cluster.getFileSystem(0);
    files.mkdirs(new Path("/user"));
    answers.println("ready " + cluster.getNameNodePort(0) + " " + cluster.getNameNodePort(1));
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String[] words = line.split(" ");
      StringBuilder answer = new StringBuilder("done");
      switch (words[0]) {
        case "safe" -> files.setSafeMode(SafeModeAction.ENTER);
        case "unsafe" -> files.setSafeMode(SafeModeAction.LEAVE);
        case "over" -> turn(cluster, 0, 1);
        case "back" -> turn(cluster, 1, 0);
        case "create" -> files.create(new Path(words[1])).close();
        case "age" -> files.setTimes(new Path(words[1]), 1, 1);
        case "list" -> {
          for (FileStatus found : files.listStatus(new Path(words[1]))) answer.append(' ').append(found.getPath().getName());
        }
        default -> throw new IllegalArgumentException(line);
      }
      answers.println(answer);
    }
    cluster.shutdown();
  }

  private static void turn(MiniDFSCluster cluster, int from, int to) throws Exception {
    cluster.transitionToStandby(from);
    cluster.transitionToActive(to);
  }
}
