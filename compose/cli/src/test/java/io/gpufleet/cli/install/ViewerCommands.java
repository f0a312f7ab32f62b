package io.gpufleet.cli.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.CommandProcess;
import io.gpufleet.testbed.kafka.FreePort;
import io.gpufleet.testbed.testkit.CommandOutput;
import io.gpufleet.testbed.testkit.RealCluster;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The commands of k8s/README.md by which somebody gets a token, the CA and a port, and asks why a Node is as it is. */
public final class ViewerCommands {
    private static final Duration EFFECT = Duration.ofSeconds(60);

    private final Path directory;
    private final String page;

    private ViewerCommands(Path directory, String page) {
        this.directory = directory;
        this.page = page;
    }

    /**
     * Runs them in a directory; what they make in the cluster is deleted again.
     *
     * @param pod a pod of the namespace default that has a GPU of the node that failed
     */
    public static void run(Path directory, String node, String pod) throws IOException, InterruptedException {
        of(directory).run(node, pod);
    }

    /** What the Job of the topics says, until it is deleted two minutes after its end. */
    public static String logOfTheTopics(Path directory) throws IOException, InterruptedException {
        ViewerCommands page = of(directory);
        return page.shell(page.command("kubectl -n gpufleet-system logs job/topics"));
    }

    private static ViewerCommands of(Path directory) throws IOException {
        String page = Files.readString(Repository.module("k8s/README.md")).replaceAll("\\s+", " ");
        return new ViewerCommands(directory, page);
    }

    private void run(String node, String pod) throws IOException, InterruptedException {
        try {
            shell(command("kubectl create clusterrolebinding gpu-viewers [^ ]+ [^ ]+"));
            shell(command("kubectl -n gpufleet-system create serviceaccount viewer"));
            shell(command("kubectl create clusterrolebinding viewer [^ ]+ [^ ]+"));
            String token = shell(command("TOKEN=\\$\\(kubectl [^)]*\\)") + "; echo $TOKEN")
                    .strip();
            shell(command("kubectl -n gpufleet-system get configmap gpufleet-ca -o jsonpath=[^ ]+ > ca\\.crt"));
            assertViewerSeesWhy(node, token, "default/" + pod);
        } finally {
            Kubectl.run("delete", "clusterrolebinding", "gpu-viewers", "viewer", "--ignore-not-found");
            Kubectl.run("-n", "default", "delete", "rolebinding", "viewer", "--ignore-not-found");
            Kubectl.run("-n", Installation.SERVICES, "delete", "serviceaccount", "viewer", "--ignore-not-found");
        }
    }

    /** The page's port may be in use here: another one of this machine leads to it. */
    private void assertViewerSeesWhy(String node, String token, String pod) throws IOException, InterruptedException {
        int port = FreePort.next();
        String forward = command("kubectl -n gpufleet-system port-forward svc/health-service 8080")
                .replace("8080", port + ":8080");
        String why = command("\\./gpufleet why NODE --server https://127\\.0\\.0\\.1:8080 --ca ca\\.crt");
        List<String> arguments = List.of(why.replace("./gpufleet ", "")
                .replace("NODE", node)
                .replace("8080", String.valueOf(port))
                .replace("ca.crt", directory.resolve("ca.crt").toString())
                .split(" "));
        Process forwarding = script("exec " + forward.replace("kubectl", RealCluster.executable() + " kubectl"))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("port-forward.log").toFile())
                .start();
        try {
            awaitWhy(
                    arguments,
                    token,
                    node,
                    "rule        nvidia/xid-79",
                    "pods        1 in namespaces that you may not");
            shell(command("kubectl -n TEAM create rolebinding [^ ]+ [^ ]+ [^ `]+")
                    .replace("TEAM", "default"));
            awaitWhy(arguments, token, "open incident", "pods        " + pod);
            CommandOutput without = CommandProcess.run(Map.of(), arguments);
            assertThat(without.status()).isNotZero();
            assertThat(without.text()).contains("401");
        } finally {
            forwarding.descendants().forEach(ProcessHandle::destroy);
            forwarding.destroy();
            forwarding.waitFor();
        }
    }

    private static void awaitWhy(List<String> arguments, String token, String... words) {
        await().atMost(EFFECT).ignoreExceptions().untilAsserted(() -> {
            CommandOutput output = CommandProcess.run(Map.of("GPUFLEET_TOKEN", token), arguments);
            assertThat(output.status()).as(output.text()).isZero();
            assertThat(output.text()).contains(words);
        });
    }

    /** The command of the page. */
    private String command(String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(page);
        assertThat(found.find()).as("k8s/README.md has " + pattern).isTrue();
        return found.group();
    }

    /** Its output, where it succeeds. */
    private String shell(String command) throws IOException, InterruptedException {
        Process process = script("kubectl() { " + RealCluster.executable() + " kubectl \"$@\"; }; set -e; " + command)
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as(command + ": " + output).isZero();
        return output;
    }

    private ProcessBuilder script(String text) {
        return new ProcessBuilder("bash", "-c", text).directory(directory.toFile());
    }
}
