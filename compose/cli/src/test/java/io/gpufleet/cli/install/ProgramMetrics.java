package io.gpufleet.cli.install;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpufleet.testbed.testkit.RealCluster;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Metrics of the programs of an installation, by the API server's proxy.
 *
 * @param cluster where they run
 */
public record ProgramMetrics(RealCluster cluster) {
    private static final Pattern MISSED = Pattern.compile(
            "^(gpufleet_projection_missed(_from_services)?|gpufleet_daemon_outbox_events_lost)_total\\b");
    private static final Pattern VERSION = Pattern.compile("gpufleet_build_info\\{.*version=\"([^\"]*)\"");

    /** The proxy takes the scheme before the name, and does not verify certificates. */
    private static final Map<String, String> PORTS =
            Map.of(Installation.SERVICES, "https:%s:8080", Installation.NODES, "%s:9400");

    /** What both replicas of a service expose. */
    public String ofService(String service) {
        return of(Installation.SERVICES, service + "-0") + of(Installation.SERVICES, service + "-1");
    }

    /** A gauge or counter of the daemon. */
    public double ofDaemon(String metric) {
        String pod = cluster.client().pods().inNamespace(Installation.NODES).list().getItems().stream()
                .map(found -> found.getMetadata().getName())
                .filter(name -> name.startsWith("node-daemon-"))
                .collect(Collectors.joining());
        return of(Installation.NODES, pod)
                .lines()
                .filter(line -> line.startsWith(metric + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("the daemon has no " + metric));
    }

    private static String of(String namespace, String pod) {
        String port = PORTS.getOrDefault(namespace, "").formatted(pod);
        return Kubectl.run("get", "--raw", "/api/v1/namespaces/%s/pods/%s/proxy/metrics".formatted(namespace, port));
    }

    /** Versions that the running programs say of themselves, each once. */
    public Set<String> versions() {
        return all().stream()
                .flatMap(text -> VERSION.matcher(text).results())
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** What the running programs count of events that were lost or not applied, where it is not zero. */
    public List<String> missedEvents() {
        List<String> counts = all().stream()
                .flatMap(String::lines)
                .filter(line -> MISSED.matcher(line).find())
                .toList();
        if (counts.isEmpty()) {
            throw new AssertionError("no program counts events that it missed");
        }
        return counts.stream()
                .filter(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)) != 0)
                .toList();
    }

    /** What every running program exposes. */
    private List<String> all() {
        var texts = new ArrayList<String>();
        for (String namespace : PORTS.keySet()) {
            for (Pod pod : cluster.client().pods().inNamespace(namespace).list().getItems()) {
                // The pod of the Job that makes the topics has no metrics.
                boolean ofJob = pod.getMetadata().getOwnerReferences().stream()
                        .anyMatch(owner -> owner.getKind().equals("Job"));
                if (!ofJob && pod.getStatus().getPhase().equals("Running")) {
                    texts.add(of(namespace, pod.getMetadata().getName()));
                }
            }
        }
        return texts;
    }
}
