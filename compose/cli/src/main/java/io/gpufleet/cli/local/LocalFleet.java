package io.gpufleet.cli.local;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.cli.cluster.ClusterPurge;
import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.fleet.ConsoleProgress;
import io.gpufleet.cli.fleet.FleetOptions;
import io.gpufleet.cli.fleet.FleetPartControl;
import io.gpufleet.cli.fleet.FleetPlan;
import io.gpufleet.cli.fleet.FleetStarter;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.PlannedProcess;
import io.gpufleet.cli.fleet.PortAllocator;
import io.gpufleet.cli.fleet.PortClaims;
import io.gpufleet.cli.fleet.ProcessIdentity;
import io.gpufleet.cli.fleet.ProcessLauncher;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.cli.fleet.RunningFleet;
import io.gpufleet.cli.fleet.StateDirectory;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Starts and stops the fleet of one state directory. */
public final class LocalFleet {
    private static final String LOOPBACK = "127.0.0.1";

    private final Path tree;
    private final StateDirectory directory;
    private final ConsoleProgress progress;
    private final ProcessLauncher launcher;
    private volatile @Nullable FleetStarter starter;

    /** The fleet of a directory, running the programs of a source tree. */
    public LocalFleet(Path tree, StateDirectory directory, ConsoleProgress progress) {
        this(tree, directory, progress, new ProcessLauncher(tree, directory));
    }

    /** The same, with processes started in a way of one's own. */
    public LocalFleet(Path tree, StateDirectory directory, ConsoleProgress progress, ProcessLauncher launcher) {
        this.launcher = launcher;
        this.tree = tree;
        this.directory = directory;
        this.progress = progress;
    }

    /** The running fleet, if there is one. */
    public Optional<FleetState> running() {
        return FleetState.read(directory.stateFile()).filter(FleetState::alive);
    }

    /** The parts of the fleet of this directory; refused while {@code up} still starts them. */
    public FleetPartControl parts() {
        FleetState state = FleetState.read(directory.stateFile()).orElseThrow(directory::noFleet);
        if (!state.started()) {
            throw new ConfigurationException("the fleet is still starting: './gpufleet status' says 'ready after' once"
                    + " every part was ready; after an 'up' that was killed before, './gpufleet down' comes first");
        }
        return new FleetPartControl(directory, new ProcessLauncher(tree, directory), state);
    }

    /**
     * Starts everything and returns when all are ready. After an error the started processes still run, see {@link
     * #stop()}.
     *
     * @param supervisor the process that stops the fleet; null when it runs until {@code down}
     */
    public RunningFleet start(FleetOptions options, @Nullable ProcessIdentity supervisor) {
        try {
            Files.createDirectories(directory.root());
            directory.requireSpace(Files.getFileStore(directory.root()).getUsableSpace());
            try (FileChannel channel = FileChannel.open(
                            directory.lockFile(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.tryLock()) {
                if (lock == null) {
                    throw new ConfigurationException(
                            "another './gpufleet up' is starting a fleet in " + directory.root() + "; wait for it");
                }
                directory.deleteRun();
                // Given back once all processes listen.
                try (var claims = new PortClaims()) {
                    return startLocked(options, supervisor, new PortAllocator(claims::claim, progress::print));
                }
            }
        } catch (IOException failed) {
            throw new ConfigurationException("the state directory " + directory.root() + " cannot be used (" + failed
                    + "): name a directory that can be written with --state");
        }
    }

    /** Stops what {@link #start} started, never the fleet of another {@code up}. */
    public void stopOwn() {
        FleetStarter mine = starter;
        if (mine != null) {
            mine.cancel();
            stop();
        }
    }

    /**
     * Stops the processes of the state file and removes the fleet's objects from a real cluster; false when there was
     * nothing.
     */
    public boolean stop() {
        Optional<FleetState> state = FleetState.read(directory.stateFile());
        if (state.isEmpty()) {
            return false;
        }
        RunningFleet.stopAll(state.get(), progress);
        if (!state.get().kubernetes().fake()) {
            removeFromCluster(state.get());
        }
        directory.deleteRun();
        return true;
    }

    private RunningFleet startLocked(FleetOptions options, @Nullable ProcessIdentity supervisor, PortAllocator ports) {
        String file = options.usesFakeApiServer() ? directory.kubeconfig().toString() : options.kubeconfig();
        String webhookHost = LOOPBACK;
        var kubernetes = new FleetState.KubernetesEndpoint("", file, true);
        if (!options.usesFakeApiServer()) {
            try (KubernetesCluster cluster = KubernetesCluster.of(Path.of(file))) {
                cluster.requireReachable();
                cluster.requireNotInstalled();
                webhookHost = cluster.addressOfThisMachine();
                kubernetes = new FleetState.KubernetesEndpoint(cluster.url(), file, false);
            }
        }
        var plan = FleetPlan.of(options, directory, file, webhookHost, ports);
        if (options.usesFakeApiServer()) {
            PlannedProcess api = plan.of(Program.FAKE_API_SERVER).getFirst();
            kubernetes = new FleetState.KubernetesEndpoint("http://" + api.httpAddress(), file, true);
        }
        progress.print(String.format(
                Locale.ROOT,
                "Starting Kafka, %s, %d services, %d nodes with %d %s each.",
                options.usesFakeApiServer() ? "a fake Kubernetes API server" : "the processes for " + kubernetes.url(),
                3 * options.replicas(),
                options.nodes(),
                options.gpus(),
                options.model()));
        var start = new FleetStarter(plan, launcher, new TopicsAndDefinitions(tree), progress, kubernetes, supervisor);
        starter = start;
        return start.start();
    }

    private void removeFromCluster(FleetState state) {
        List<String> urls = state.processes().stream()
                .flatMap(process -> Optional.ofNullable(process.environment().get("GPUFLEET_WEBHOOK_URL")).stream())
                .toList();
        List<String> nodes =
                state.nodes().stream().map(FleetState.FleetNode::name).toList();
        try (KubernetesCluster cluster =
                KubernetesCluster.of(Path.of(state.kubernetes().kubeconfig()))) {
            cluster.removeWebhooks(urls).forEach(name -> progress.print("removed webhook configuration " + name));
            cluster.removeSimulatedNodes(nodes);
            new ClusterPurge(cluster.client(), progress::print).removeAppliedFields();
            cluster.removeNamespace(FleetPlan.NAMESPACE);
            progress.print("removed " + nodes.size() + " simulated nodes and namespace "
                    + FleetPlan.NAMESPACE + " from "
                    + state.kubernetes().url() + "; the definition of GpuQuota and the quotas stay in it");
        } catch (KubernetesClientException | ConfigurationException failed) {
            progress.print("the cluster does not answer, the simulated nodes stay in it: " + failed.getMessage());
        }
    }

    /** Applies the topics of the catalogue and the definitions of the tree's manifests. */
    private record TopicsAndDefinitions(Path tree) implements FleetStarter.FleetPrerequisites {
        @Override
        public void createTopics(String bootstrap) {
            TopicAdmin.apply(bootstrap, new Topics(Topics.DEFAULT_PREFIX));
        }

        @Override
        public String applyDefinitions(String kubeconfig) {
            try (KubernetesCluster cluster = KubernetesCluster.of(Path.of(kubeconfig))) {
                cluster.ensureNamespace(FleetPlan.NAMESPACE);
                cluster.applyFiles(tree.resolve("k8s/base/crds"));
                return cluster.url();
            }
        }
    }
}
