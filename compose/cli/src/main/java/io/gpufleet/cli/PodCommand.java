package io.gpufleet.cli;

import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.cluster.PodRequest;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Creates and deletes pods that request GPUs. */
@Command(
        name = "pod",
        description = "Create or delete a pod that requests GPUs.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "create|delete",
        subcommands = {PodCommand.CreatePodCommand.class, PodCommand.DeletePodCommand.class})
final class PodCommand implements Runnable {
    @ParentCommand
    private GpufleetCommand parent = new GpufleetCommand();

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(System.out);
    }

    private KubernetesCluster cluster() {
        FleetState state = parent.runningFleet();
        return KubernetesCluster.of(Path.of(state.kubernetes().kubeconfig()));
    }

    /** {@code pod create}. */
    @Command(name = "create", description = "Create a pod and its namespace.", mixinStandardHelpOptions = true)
    static final class CreatePodCommand implements Runnable {
        @ParentCommand
        private PodCommand pod = new PodCommand();

        @Parameters(paramLabel = "NAMESPACE/NAME")
        private String name = "";

        @Option(
                names = "--gpus",
                paramLabel = "N",
                required = true,
                description = "limit of nvidia.com/gpu, for example 2")
        private String gpus = "";

        @Option(names = "--model", paramLabel = "M", description = "only nodes of this model, for example H100")
        private String model = "";

        @Option(names = "--run-for", paramLabel = "TIME", description = "run time on a fake kubelet [no limit]")
        private String runFor = "";

        @Option(
                names = "--image",
                paramLabel = "IMAGE",
                description = "image that a real kubelet runs [${DEFAULT-VALUE}]")
        private String image = "registry.k8s.io/pause:3.10";

        @Override
        public void run() {
            Map.Entry<String, String> id = PodRequest.parseName(name);
            try (KubernetesCluster cluster = pod.cluster()) {
                String product = model.isEmpty() ? "" : cluster.product(model);
                cluster.createPod(new PodRequest(id.getKey(), id.getValue(), gpus, product, image, runFor));
                System.out.println("pod " + name + " created" + (product.isEmpty() ? "" : ", on " + product));
            }
        }
    }

    /** {@code pod delete}. */
    @Command(name = "delete", description = "Delete a pod.", mixinStandardHelpOptions = true)
    static final class DeletePodCommand implements Runnable {
        @ParentCommand
        private PodCommand pod = new PodCommand();

        @Parameters(paramLabel = "NAMESPACE/NAME")
        private String name = "";

        @Override
        public void run() {
            Map.Entry<String, String> id = PodRequest.parseName(name);
            try (KubernetesCluster cluster = pod.cluster()) {
                if (!cluster.deletePod(id.getKey(), id.getValue())) {
                    throw new ConfigurationException("there is no pod " + name);
                }
                System.out.println("pod " + name + " deleted");
            }
        }
    }
}
