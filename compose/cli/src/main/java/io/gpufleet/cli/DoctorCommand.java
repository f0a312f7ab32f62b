package io.gpufleet.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpufleet.cli.cluster.ClusterDoctor;
import io.gpufleet.cli.cluster.Finding;
import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.cluster.SupportBundle;
import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Examines an installation in a cluster. */
@Command(
        name = "doctor",
        description = "Examine the installation in a cluster: OK, WARN or FAIL with a remedy; exit status 1 on a FAIL.",
        mixinStandardHelpOptions = true)
final class DoctorCommand implements Callable<Integer> {
    @Option(names = "--cluster", description = "examine a cluster; the node-daemon has a doctor of its own for a node")
    private boolean ofCluster;

    @Mixin
    private ClusterOption cluster = new ClusterOption();

    @Option(names = "--json", description = "print a JSON array")
    private boolean json;

    @Option(
            names = "--bundle",
            paramLabel = "FILE.zip",
            description = "write what somebody who helps must see: findings, objects, events and logs, without secrets")
    private String bundle = "";

    @Override
    public Integer call() throws JsonProcessingException {
        if (!ofCluster) {
            throw new ConfigurationException(
                    "doctor examines a cluster with --cluster; for one node: kubectl -n gpufleet-node exec"
                            + " POD -- node-daemon doctor");
        }
        List<Finding> findings;
        try (KubernetesCluster its = cluster.open()) {
            its.requireReachable();
            findings = new ClusterDoctor(its.client()).examine();
            if (!bundle.isEmpty()) {
                new SupportBundle(its.client()).write(Path.of(bundle), findings);
            }
        }
        if (json) {
            System.out.println(new ObjectMapper().writeValueAsString(findings));
        } else {
            findings.forEach(finding -> System.out.println(finding.toLine()));
        }
        return findings.stream().anyMatch(finding -> finding.level() == Finding.Level.FAIL) ? 1 : 0;
    }
}
