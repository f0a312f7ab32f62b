package io.gpufleet.cli.dev;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.install.PageCommands;
import io.gpufleet.testbed.testkit.RealCluster;
import java.io.IOException;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The lines of a service's page by which somebody gets a right, a token and the CA, and asks by {@code curl}. */
final class ServiceCurls {
    private static final Pattern LINES = Pattern.compile("\n( +kubectl [^\n]*\n(?: +[^\n]*\n)*? +curl [^\n]*)");

    private final CheckoutCopy checkout;
    private final RealCluster cluster;

    ServiceCurls(CheckoutCopy checkout, RealCluster cluster) {
        this.checkout = checkout;
        this.cluster = cluster;
    }

    /** Runs those of the page of a service, against its pod; the answer and its status. */
    String run(String service) throws IOException, InterruptedException {
        return run(service, UnaryOperator.identity());
    }

    /** Runs them with a change. */
    String run(String service, UnaryOperator<String> change) throws IOException, InterruptedException {
        List<String> found = LINES.matcher(PageCommands.text(service + "/README.md"))
                .results()
                .map((MatchResult lines) -> lines.group(1))
                .toList();
        assertThat(found).as(service).hasSize(1);
        String lines = change.apply(found.getFirst())
                .replace("HOST", address(cluster, service))
                .replace("/NODE/", "/" + cluster.nodeName() + "/");
        String output = checkout.run(lines + " -sS -w ' %{http_code}'");
        return output.substring(output.lastIndexOf('\n') + 1);
    }

    /** Address of the first pod of a service. */
    static String address(RealCluster cluster, String service) {
        return cluster.client()
                .pods()
                .inNamespace("gpufleet-system")
                .withName(service + "-0")
                .get()
                .getStatus()
                .getPodIP();
    }
}
