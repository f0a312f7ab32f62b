package io.gpufleet.compose.local;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.compose.cluster.Cluster;
import io.gpufleet.compose.fleet.FleetOptions;
import io.gpufleet.compose.fleet.FleetPlan;
import io.gpufleet.compose.fleet.FleetStart;
import io.gpufleet.compose.fleet.FleetState;
import io.gpufleet.compose.fleet.Identity;
import io.gpufleet.compose.fleet.Launcher;
import io.gpufleet.compose.fleet.Part;
import io.gpufleet.compose.fleet.Ports;
import io.gpufleet.compose.fleet.Program;
import io.gpufleet.compose.fleet.Progress;
import io.gpufleet.compose.fleet.RunningFleet;
import io.gpufleet.compose.fleet.StateDirectory;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Starts and ends the fleet of one state directory. */
public final class LocalFleet {
    private static final String LOOPBACK = "127.0.0.1";

    private final Path tree;
    private final StateDirectory directory;
    private final Progress progress;
    private volatile @Nullable FleetStart began;

    /** The fleet of a directory, running the programs of a source tree. */
    public LocalFleet(Path tree, StateDirectory directory, Progress progress) {
        this.tree = tree;
        this.directory = directory;
        this.progress = progress;
    }

    /** What runs now; empty when nothing does. */
    public Optional<FleetState> running() {
        return FleetState.read(directory.stateFile()).filter(FleetState::alive);
    }

    /**
     * Starts everything and returns when all are ready. On an error what was started still runs, see {@link #end()}.
     *
     * @param supervisor who will end the fleet; null when it is to run until {@code down}
     */
    public RunningFleet start(FleetOptions options, @Nullable Identity supervisor) {
        try {
            Files.createDirectories(directory.root());
            try (FileChannel channel = FileChannel.open(
                            directory.lockFile(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.tryLock()) {
                if (lock == null) {
                    throw new ConfigurationException(
                            "another './gpufleet up' is starting a fleet in " + directory.root() + "; wait for it");
                }
                directory.forgetRun();
                return begin(options, supervisor);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Ends what {@link #start} started; never the fleet of another {@code up}. */
    public void endOwn() {
        FleetStart mine = began;
        if (mine != null) {
            mine.noMore();
            end();
        }
    }

    /** Ends what the state file names, and leaves a real cluster as it was found; false when there was nothing. */
    public boolean end() {
        Optional<FleetState> state = FleetState.read(directory.stateFile());
        if (state.isEmpty()) {
            return false;
        }
        RunningFleet.end(state.get(), progress);
        if (!state.get().kubernetes().standIn()) {
            tidy(state.get());
        }
        directory.forgetRun();
        return true;
    }

    private RunningFleet begin(FleetOptions options, @Nullable Identity supervisor) {
        String file = options.standIn() ? directory.kubeconfig().toString() : options.kubeconfig();
        String webhookHost = LOOPBACK;
        var kubernetes = new FleetState.Kubernetes("", file, true);
        if (!options.standIn()) {
            try (Cluster cluster = Cluster.of(Path.of(file))) {
                cluster.check();
                cluster.refuseInstalled();
                webhookHost = cluster.addressOfThisMachine();
                kubernetes = new FleetState.Kubernetes(cluster.url(), file, false);
            }
        }
        var plan = FleetPlan.of(options, directory, file, webhookHost, new Ports(Ports::isFree, progress::say));
        if (options.standIn()) {
            Part api = plan.of(Program.KUBE_API).getFirst();
            kubernetes = new FleetState.Kubernetes("http://" + api.httpAddress(), file, true);
        }
        progress.say(String.format(
                Locale.ROOT,
                "Starting Kafka, %s, %d services, %d nodes with %d %s each.",
                options.standIn() ? "a stand-in Kubernetes API" : "the parts for " + kubernetes.url(),
                3 * options.replicas(),
                options.nodes(),
                options.gpus(),
                options.model()));
        var start = new FleetStart(
                plan, new Launcher(tree, directory), new Prepared(tree), progress, kubernetes, supervisor);
        began = start;
        return start.start();
    }

    private void tidy(FleetState state) {
        List<String> urls = state.processes().stream()
                .flatMap(part -> Optional.ofNullable(part.environment().get("GPUFLEET_WEBHOOK_URL")).stream())
                .toList();
        List<String> nodes =
                state.nodes().stream().map(FleetState.NodePlace::name).toList();
        try (Cluster cluster = Cluster.of(Path.of(state.kubernetes().kubeconfig()))) {
            cluster.removeWebhooks(urls).forEach(name -> progress.say("removed webhook configuration " + name));
            cluster.removeSimulatedNodes(nodes);
            cluster.removeNamespace(FleetPlan.NAMESPACE);
            progress.say("removed " + nodes.size() + " simulated nodes and namespace "
                    + FleetPlan.NAMESPACE + " from "
                    + state.kubernetes().url());
        } catch (KubernetesClientException | ConfigurationException failed) {
            progress.say("the simulated nodes stay in the cluster, it does not answer: " + failed.getMessage());
        }
    }

    /** Topics from the catalogue, definitions from the manifests of the tree. */
    private record Prepared(Path tree) implements FleetStart.Preparations {
        @Override
        public void topics(String bootstrap) {
            TopicAdmin.apply(bootstrap, new Topics(Topics.DEFAULT_PREFIX));
        }

        @Override
        public String definitions(String kubeconfig) {
            try (Cluster cluster = Cluster.of(Path.of(kubeconfig))) {
                cluster.ensureNamespace(FleetPlan.NAMESPACE);
                cluster.applyFiles(tree.resolve("k8s/base/crds"));
                return cluster.url();
            }
        }
    }
}
