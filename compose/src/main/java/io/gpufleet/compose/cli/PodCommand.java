package io.gpufleet.compose.cli;

import io.gpufleet.compose.cluster.Cluster;
import io.gpufleet.compose.cluster.PodWish;
import io.gpufleet.compose.fleet.FleetState;
import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Creates and deletes pods that ask for GPUs. */
@Command(
        name = "pod",
        description = "Create or delete a pod that asks for GPUs.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "create|delete",
        subcommands = {PodCommand.Create.class, PodCommand.Delete.class})
final class PodCommand implements Runnable {
    @ParentCommand
    private Gpufleet parent = new Gpufleet();

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();

    @Override
    public void run() {
        spec.commandLine().usage(System.out);
    }

    private Cluster cluster() {
        FleetState state = parent.running();
        return Cluster.of(Path.of(state.kubernetes().kubeconfig()));
    }

    /** {@code pod create}. */
    @Command(name = "create", description = "Create a pod and its namespace.", mixinStandardHelpOptions = true)
    static final class Create implements Runnable {
        @ParentCommand
        private PodCommand pod = new PodCommand();

        @Parameters(paramLabel = "NAMESPACE/NAME")
        private String name = "";

        @Option(names = "--gpus", paramLabel = "N", required = true, description = "limit of nvidia.com/gpu")
        private String gpus = "";

        @Option(names = "--model", paramLabel = "M", description = "only nodes of this model, for example H100")
        private String model = "";

        @Option(names = "--run-for", paramLabel = "TIME", description = "a stand-in kubelet ends it then; for ever")
        private String runFor = "";

        @Option(names = "--image", description = "what a real kubelet runs [${DEFAULT-VALUE}]")
        private String image = "registry.k8s.io/pause:3.10";

        @Override
        public void run() {
            Map.Entry<String, String> id = PodWish.split(name);
            try (Cluster cluster = pod.cluster()) {
                String product = model.isEmpty() ? "" : cluster.product(model);
                cluster.createPod(new PodWish(id.getKey(), id.getValue(), gpus, product, image, runFor));
                System.out.println("pod " + name + " created" + (product.isEmpty() ? "" : ", on " + product));
            }
        }
    }

    /** {@code pod delete}. */
    @Command(name = "delete", description = "Delete a pod.", mixinStandardHelpOptions = true)
    static final class Delete implements Runnable {
        @ParentCommand
        private PodCommand pod = new PodCommand();

        @Parameters(paramLabel = "NAMESPACE/NAME")
        private String name = "";

        @Override
        public void run() {
            Map.Entry<String, String> id = PodWish.split(name);
            try (Cluster cluster = pod.cluster()) {
                if (!cluster.deletePod(id.getKey(), id.getValue())) {
                    throw new ConfigurationException("there is no pod " + name);
                }
                System.out.println("pod " + name + " deleted");
            }
        }
    }
}
