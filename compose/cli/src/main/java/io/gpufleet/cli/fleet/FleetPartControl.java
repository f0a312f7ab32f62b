package io.gpufleet.cli.fleet;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.testbed.kafka.BrokerProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Starts and stops single parts of a fleet that was started before, with the command and settings that they had. */
public final class FleetPartControl {
    /** Id of the broker of {@link #startSecondBroker}. */
    public static final int SECOND_BROKER = 2;

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration READY_TIMEOUT = Duration.ofSeconds(60);
    /** A part is started after those that it uses. */
    private static final List<String> START_ORDER = List.of(
            RunningFleet.KAFKA,
            Program.FAKE_API_SERVER.name(),
            Program.FAKE_KUBELETS.name(),
            Program.INVENTORY.name(),
            Program.HEALTH.name(),
            Program.ALLOCATION.name(),
            Program.NODE_DAEMON.name());

    private final StateDirectory directory;
    private final ProcessLauncher launcher;
    private final RunningFleet fleet;

    /** The parts of a state, running or not. */
    public FleetPartControl(StateDirectory directory, ProcessLauncher launcher, FleetState state) {
        this.directory = directory;
        this.launcher = launcher;
        this.fleet = new RunningFleet(directory, state);
    }

    /** The state now. */
    public FleetState state() {
        return fleet.state();
    }

    /** Starts every part that does not run; returns their names. */
    public List<String> startDead() {
        return START_ORDER.stream()
                .flatMap(program -> fleet.state().processes().stream()
                        .filter(each -> each.program().equals(program))
                        .map(FleetState.FleetProcess::name))
                .filter(this::start)
                .toList();
    }

    /** Starts a part and waits until it is ready; false when it runs already. */
    public boolean start(String name) {
        FleetState.FleetProcess part = part(name);
        if (part.identity().find().isPresent()) {
            return false;
        }
        if (part.program().equals(RunningFleet.KAFKA)) {
            startBroker(part);
        } else {
            ReadinessProbe.await(fleet.add(launcher.restart(part)), READY_TIMEOUT);
        }
        return true;
    }

    /** Stops a part; false when it does not run. */
    public boolean stop(String name) {
        Optional<ProcessHandle> running = part(name).identity().find();
        running.ifPresent(process -> Processes.terminate(List.of(process), STOP_TIMEOUT));
        return running.isPresent();
    }

    /** Kills a part by SIGKILL and waits until it is gone. */
    public void kill(String name) {
        part(name).identity().find().ifPresent(process -> {
            process.destroyForcibly();
            Processes.awaitExit(process, STOP_TIMEOUT);
        });
    }

    /** Kills a part and starts it with further variables, which a later start does not have; waits until it is ready. */
    public void relaunch(String name, Map<String, String> variables) {
        kill(name);
        FleetState.FleetProcess part = part(name);
        ReadinessProbe.await(fleet.add(launcher.restart(part, variables)), READY_TIMEOUT);
    }

    /** Starts a second broker in the cluster of the fleet's, with id 2; it is no part of the fleet. */
    public BrokerProcess startSecondBroker() {
        return BrokerProcess.join(directory.secondBroker(), SECOND_BROKER, directory.broker());
    }

    /** Deletes what the broker of {@link #startSecondBroker} wrote, once it has ended. */
    public void deleteSecondBroker() {
        DirectoryTrees.delete(directory.secondBroker());
    }

    /** The state directory. */
    public Path directory() {
        return directory.root();
    }

    /** Kills every service and starts it, without waiting until one is ready. */
    public void relaunchServices() {
        fleet.state().processes().stream()
                .filter(part -> Program.isService(part.program()))
                .forEach(part -> {
                    kill(part.name());
                    var _ = fleet.add(launcher.restart(part));
                });
    }

    /** Stops a part by SIGSTOP until {@link #thaw}; its connections stay open. */
    public void freeze(String name) {
        part(name).identity().find().ifPresent(process -> Processes.signal(process, "STOP"));
    }

    /** Lets a part run on that was frozen. */
    public void thaw(String name) {
        part(name).identity().find().ifPresent(process -> Processes.signal(process, "CONT"));
    }

    /** From now on no file of a part can grow, as on a full disk, until {@link #unlimitFiles}. */
    public void limitFiles(String name) {
        part(name).identity().find().ifPresent(process -> Processes.limitFileSize(process, "0"));
    }

    /** Files of a part can grow again; nothing where it has ended meanwhile. */
    public void unlimitFiles(String name) {
        part(name).identity().find().ifPresent(process -> Processes.limitFileSize(process, "unlimited"));
    }

    private FleetState.FleetProcess part(String name) {
        return fleet.state()
                .process(name)
                .orElseThrow(() -> new ConfigurationException("'" + name + "' is no part of this fleet; it has "
                        + fleet.state().processes().stream()
                                .map(FleetState.FleetProcess::name)
                                .collect(Collectors.joining(", "))));
    }

    private void startBroker(FleetState.FleetProcess part) {
        BrokerProcess broker =
                BrokerProcess.start(directory.broker(), part.ports().getOrDefault("kafka", 0));
        fleet.add(new FleetState.FleetProcess(
                part.name(),
                part.program(),
                ProcessHandle.of(broker.pid()).map(ProcessIdentity::of).orElseThrow(),
                part.log(),
                part.command(),
                part.environment(),
                part.ports()));
    }
}
