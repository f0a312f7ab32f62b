package io.gpufleet.nodedaemon;

import io.gpufleet.kit.lifecycle.OnDemandThread;
import io.gpufleet.kit.lifecycle.Shutdown;
import io.gpufleet.nodedaemon.app.AllocationHandler;
import io.gpufleet.nodedaemon.app.CentralVerdictSettings;
import io.gpufleet.nodedaemon.app.CompanionWatch;
import io.gpufleet.nodedaemon.app.LivenessChecks;
import io.gpufleet.nodedaemon.app.NodeFact;
import io.gpufleet.nodedaemon.app.NodeLoop;
import io.gpufleet.nodedaemon.app.NodeLoopInput;
import io.gpufleet.nodedaemon.app.NodeOutputs;
import io.gpufleet.nodedaemon.app.XidPolicy;
import io.gpufleet.nodedaemon.app.counters.DaemonCounters;
import io.gpufleet.nodedaemon.app.device.CdiPreparingSource;
import io.gpufleet.nodedaemon.app.device.DeviceSource;
import io.gpufleet.nodedaemon.app.device.DeviceWatch;
import io.gpufleet.nodedaemon.app.device.TimedDeviceSource;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.deviceplugin.DevicePluginEndpoints;
import io.gpufleet.nodedaemon.deviceplugin.PluginWarmUp;
import io.gpufleet.nodedaemon.hold.GpuReleaseFiles;
import io.gpufleet.nodedaemon.host.AotCache;
import io.gpufleet.nodedaemon.host.HostInfoReader;
import io.gpufleet.nodedaemon.http.OpsServer;
import io.gpufleet.nodedaemon.installer.InstallerStatusFile;
import io.gpufleet.nodedaemon.kafka.EpochFile;
import io.gpufleet.nodedaemon.kafka.EventPublisher;
import io.gpufleet.nodedaemon.kafka.KafkaSettings;
import io.gpufleet.nodedaemon.kafka.VerdictConsumer;
import io.gpufleet.nodedaemon.kmsg.KernelLog;
import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.allocation.MpsDaemonSpec;
import io.gpufleet.nodedaemon.model.device.HostInfo;
import io.gpufleet.nodedaemon.model.device.Moment;
import io.gpufleet.nodedaemon.model.fault.FaultPolicy;
import io.gpufleet.nodedaemon.model.settings.SettingsSelector;
import io.gpufleet.nodedaemon.model.settings.SharingSettings;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import io.gpufleet.nodedaemon.mps.MpsDirectories;
import io.gpufleet.nodedaemon.nvml.binding.LowThreadPriority;
import io.gpufleet.nodedaemon.nvml.binding.NativeHeap;
import io.gpufleet.nodedaemon.pluginconfig.NvidiaPluginEnvironment;
import io.gpufleet.nodedaemon.pluginconfig.SettingsWatcher;
import io.gpufleet.nodedaemon.podresources.PodResourcesClient;
import io.gpufleet.nodedaemon.state.ForgetFile;
import io.gpufleet.nodedaemon.state.IgnoreVerdictsFile;
import io.gpufleet.nodedaemon.state.RestartRateLimit;
import io.gpufleet.nodedaemon.state.StateFile;
import io.gpufleet.proto.kubelet.EventLoops;
import io.netty.channel.EventLoop;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The daemon: creates its parts, connects them and starts them. */
final class DaemonMain implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DaemonMain.class);
    private static final String VERSION = "0.1.0";
    /** Prefix of the files that must be closed before a driver can be unloaded. */
    private static final String GPU_DEVICE_PREFIX = "/dev/nvidia";

    /** For a broker that is connected and does not answer; the next start sends what this one could not. */
    private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(1);

    /** Creating clients of Kafka takes a second of processor time; the kubelet's first list is sent before. */
    private static final Duration KAFKA_START_DELAY = Duration.ofMillis(500);

    /**
     * For so long at most all that reports waits for the kubelet's first list: on a busy node it would take the processor
     * from the registration. Not at all where no list is due.
     */
    private static final Duration FIRST_LIST_TIMEOUT = Duration.ofSeconds(10);

    private static final Duration FIRST_TRIM = Duration.ofSeconds(4);
    private static final Duration TRIM_INTERVAL = Duration.ofMinutes(1);

    private final DaemonCounters counters = new DaemonCounters();
    private final StateFile stateFile;
    private final EventPublisher publisher;
    private final VerdictConsumer verdictConsumer;
    private final DevicePluginEndpoints devicePlugins;
    private final PodResourcesClient podResources;
    private final NodeLoop loop;
    private final CdiPreparingSource preparingSource;
    private final TimedDeviceSource timedSource;
    private final DeviceWatch deviceWatch;
    private final SettingsWatcher settingsWatcher;
    private final CompanionWatch companionWatch;
    private final OpsServer opsServer;
    private final LongSupplier kernelLogOverruns;
    private final IgnoreVerdictsFile ignoreVerdictsFile;
    private final ForgetFile forgetFile;
    private final DaemonProcessExit exit = new DaemonProcessExit();

    /**
     * Starts everything.
     *
     * @param shutdown gets what a start that fails or is ended must undo
     */
    DaemonMain(DaemonConfig config, Map<String, String> environment, Shutdown shutdown) throws InterruptedException {
        String node = config.kafka().node();
        BlockingQueue<NodeLoopInput> inbox = NodeLoop.inbox();
        settingsWatcher = settingsWatcher(config, environment, inbox);
        ignoreVerdictsFile = new IgnoreVerdictsFile(
                config.kafka().ignoreVerdictsFile(), ignored -> inbox.add(new NodeLoopInput.VerdictsIgnored(ignored)));
        forgetFile = new ForgetFile(
                config.state().runDirectory(), names -> inbox.add(new NodeLoopInput.GpusForgotten(names)));
        // One that was written while no daemon ran is applied by the first inputs.
        forgetFile.check();
        var allocator =
                DeviceSources.allocator(settingsWatcher.selector().fallback().settings());
        var allocationHandler = new AllocationHandler(allocator, DaemonMain::now, counters, inbox::add);
        companionWatch = companionWatch(config, allocationHandler, inbox);
        DeviceSource source = DeviceSources.open(config.devices(), node);
        timedSource = new TimedDeviceSource(source, counters, System::nanoTime);
        preparingSource = DeviceSources.preparingSource(timedSource, config, settingsWatcher.selector(), inbox::add);
        // Opening NVML takes longest, so its threads begin before all that is not needed for it.
        deviceWatch = deviceWatch(config, inbox);
        HostInfo host = HostInfoReader.read(config.state().bootIdFile(), source.name(), VERSION);
        Path stateDirectory = config.state().stateDirectory();
        long epoch = EpochFile.next(stateDirectory, System.currentTimeMillis());
        var settings = kafkaSettings(config, host);
        Runnable lowerPriority = lowerPriority(source.name());
        stateFile = new StateFile(
                stateDirectory, config.devices().source(), epoch, reportingThread("state-file", lowerPriority));
        publisher = new EventPublisher(
                settings, epoch, DaemonMain::now, lost -> inbox.add(new NodeLoopInput.BacklogSent(lost)));
        verdictConsumer = verdictConsumer(config, settings, inbox);
        devicePlugins = devicePlugins(EventLoops.open("kubelet"), config, epoch, allocationHandler, inbox);
        shutdown.add("sockets", devicePlugins::removeSockets);
        // Not the kubelet's, so that a page or a list of pods that is read delays no answer to it.
        EventLoop reporting = EventLoops.open("reporting");
        podResources = podResources(reporting, config);
        loop = new NodeLoop(
                new NodeLoop.Dependencies(
                        host,
                        new FaultPolicy(XidPolicy.withdrawing(), config.timing().recoveryDwell(), XidOverrides.NONE),
                        new CentralVerdictSettings(
                                verdictConsumer.storedOverlay(), config.kafka().applyVerdicts()),
                        new NodeOutputs(publisher, stateFile, allocationHandler, this::publish, counters),
                        podResources,
                        new ProcessRestart(
                                new RestartRateLimit(config.state().runDirectory()), stateFile, publisher, exit)),
                inbox,
                DaemonMain::now);
        boolean _ = devicePlugins.awaitFirstList(FIRST_LIST_TIMEOUT);
        reporting.execute(lowerPriority);
        publisher.start(KAFKA_START_DELAY, lowerPriority);
        kernelLogOverruns = followKernelLog(config, host, inbox);
        opsServer =
                OpsServer.open(reporting, config.http().host(), config.http().port(), responses(config, environment));
        var _ = new PluginWarmUp(reporting, config.state().runDirectory(), DaemonMain::now).run(allocationHandler);
        loop.warmUp(reportingThread("fault-warm-up", lowerPriority));
        var _ = reporting.schedule(verdictConsumer::start, KAFKA_START_DELAY.toMillis(), TimeUnit.MILLISECONDS);
        exit.prepare(source.name());
        returnFreedMemory(reporting, source.name());
        logStart(config, epoch, opsServer.port());
        AotCache.warnIfUnused(System.getProperty(AotCache.PROPERTY, ""));
    }

    /** A thread that begins after the kubelet's first list, and gets out of the way of answers to it. */
    private Executor reportingThread(String name, Runnable lowerPriority) {
        Executor thread = OnDemandThread.executor(name);
        return task -> thread.execute(() -> {
            awaitFirstList();
            lowerPriority.run();
            task.run();
        });
    }

    private void awaitFirstList() {
        try {
            boolean _ = devicePlugins.awaitFirstList(FIRST_LIST_TIMEOUT);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** The first time once the warm-ups are over. Without effect where the C library cannot. */
    private static void returnFreedMemory(EventLoop reporting, String sourceName) {
        if (sourceName.equals("nvml")) {
            var _ = reporting.scheduleWithFixedDelay(
                    NativeHeap::trim, FIRST_TRIM.toSeconds(), TRIM_INTERVAL.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Not for simulated and recorded GPUs, which load no native code; their nodes run on one machine by the thousand. */
    private static Runnable lowerPriority(String sourceName) {
        return sourceName.equals("nvml") ? LowThreadPriority::lowerThisThread : () -> {};
    }

    private DeviceWatch deviceWatch(DaemonConfig config, BlockingQueue<NodeLoopInput> inbox) {
        var holds = new GpuReleaseFiles(config.state().runDirectory(), GPU_DEVICE_PREFIX, () -> {
            ignoreVerdictsFile.check();
            forgetFile.check();
            settingsWatcher.poll();
            companionWatch.poll();
        });
        return new DeviceWatch(
                preparingSource, holds, config.timing().telemetryInterval(), inbox::add, DaemonMain::now);
    }

    private VerdictConsumer verdictConsumer(
            DaemonConfig config, KafkaSettings settings, BlockingQueue<NodeLoopInput> inbox) {
        var consumer = new VerdictConsumer(settings, overlay -> inbox.add(new NodeLoopInput.OverlayChanged(overlay)));
        if (!config.pluginConfig().directory().isEmpty()) {
            consumer.alsoFollowLabel(settingsWatcher::labelChanged);
        }
        return consumer;
    }

    private MetricsEndpoint metrics(String node) {
        return new MetricsEndpoint(
                node,
                counters,
                loop,
                publisher,
                verdictConsumer,
                ignoreVerdictsFile,
                devicePlugins,
                this::kernelLogOverruns);
    }

    private static void logStart(DaemonConfig config, long epoch, int httpPort) {
        LOG.atInfo()
                .addKeyValue("node", config.kafka().node())
                .addKeyValue("devices", config.devices().source())
                .addKeyValue("epoch", epoch)
                .addKeyValue("http", httpPort)
                .log("daemon started");
    }

    /** Prepares the host for the settings before they are applied to Allocate. */
    private void applySettings(SettingsSelector selector, BlockingQueue<NodeLoopInput> inbox) {
        preparingSource.prepareFor(selector);
        inbox.add(new NodeLoopInput.SettingsChanged(selector));
    }

    private static CompanionWatch companionWatch(
            DaemonConfig config, AllocationHandler handler, BlockingQueue<NodeLoopInput> inbox) {
        return new CompanionWatch(
                new MpsDirectories(Path.of("/proc"), Clock.systemUTC()),
                new InstallerStatusFile(config.state().runDirectory()),
                () -> {
                    SharingSettings sharing = handler.allocator().settings().sharing();
                    return new CompanionWatch.MpsDaemonSpecs(
                            Path.of(sharing.mpsRoot()), MpsDaemonSpec.of(handler.offers(), sharing));
                },
                status -> inbox.add(new NodeLoopInput.CompanionStatusChanged(status)));
    }

    /** Publishes to the kubelet first, which waits for the list; MPS control daemons and we poll. */
    private void publish(Map<String, DeviceList> lists) {
        devicePlugins.publish(lists);
        companionWatch.wake();
    }

    private SettingsWatcher settingsWatcher(
            DaemonConfig config, Map<String, String> environment, BlockingQueue<NodeLoopInput> inbox) {
        var settings = new SettingsWatcher(
                DeviceSources.settingsSources(config),
                new NvidiaPluginEnvironment(environment),
                selector -> applySettings(selector, inbox));
        inbox.add(new NodeLoopInput.SettingsChanged(settings.selector()));
        return settings;
    }

    private DevicePluginEndpoints devicePlugins(
            EventLoop loop,
            DaemonConfig config,
            long epoch,
            AllocationHandler handler,
            BlockingQueue<NodeLoopInput> inbox) {
        var kubelet = config.kubelet();
        return new DevicePluginEndpoints(
                loop,
                new DevicePluginEndpoints.KubeletConnectionSettings(
                        kubelet.devicePluginDirectory(),
                        kubelet.pluginsRegistry(),
                        kubelet.registration(),
                        epoch,
                        () -> FileSystems.getDefault().newWatchService(),
                        () -> inbox.add(new NodeLoopInput.CheckpointChanged())),
                handler,
                counters,
                System::nanoTime);
    }

    private static PodResourcesClient podResources(EventLoop loop, DaemonConfig config) {
        return new PodResourcesClient(
                loop,
                config.kubelet().podResourcesSocket(),
                config.kubelet().devicePluginDirectory().resolve("kubelet_internal_checkpoint"),
                name -> name.startsWith("nvidia.com/"),
                Clock.systemUTC(),
                System::nanoTime);
    }

    private LongSupplier followKernelLog(DaemonConfig config, HostInfo host, BlockingQueue<NodeLoopInput> inbox) {
        return config.devices()
                .kernelLogFile()
                .<LongSupplier>map(file -> new KernelLog(
                        new KernelLog.KernelLogSettings(
                                file,
                                config.state().stateDirectory(),
                                host.bootId(),
                                () -> host.uptime().toNanos() / 1_000),
                        fault -> {
                            inbox.add(new NodeLoopInput.KernelFaultLogged(fault));
                            deviceWatch.pollSoon();
                        })::overruns)
                .orElse(() -> 0);
    }

    private long kernelLogOverruns() {
        return kernelLogOverruns.getAsLong();
    }

    private static KafkaSettings kafkaSettings(DaemonConfig config, HostInfo host) {
        return new KafkaSettings(
                KafkaSettings.clients(config.kafka().bootstrap(), config.kafka().clientProperties()),
                config.kafka().cluster(),
                config.kafka().topicPrefix(),
                config.kafka().node(),
                host.bootId(),
                config.state().stateDirectory(),
                config.state().outboxBytes());
    }

    private static Moment now() {
        return new Moment(Clock.systemUTC().instant(), System.nanoTime());
    }

    private OpsServer.OpsResponses responses(DaemonConfig config, Map<String, String> environment) {
        MetricsEndpoint metrics = metrics(config.kafka().node());
        return new OpsServer.OpsResponses(
                () -> livenessChecks().livenessFailures(),
                () -> livenessChecks().readinessFailures(),
                metrics::text,
                new LiveDiagnostics(
                        environment,
                        config,
                        loop::status,
                        () -> livenessChecks().readinessFailures()));
    }

    private LivenessChecks livenessChecks() {
        return new LivenessChecks(
                loop.sinceLastIteration(),
                timedSource.callInFlight(),
                timedSource.eventWaitInFlight(),
                devicePlugins.stuckReason(),
                loop.status().scanned(),
                devicePlugins.notRegisteredReason(),
                Stream.of(publisher.readinessFailure(), verdictConsumer.readinessFailure())
                        .flatMap(Optional::stream)
                        .toList());
    }

    /** Removes the sockets, publishes the departure, and exits; all else survives a kill. */
    @Override
    public void close() {
        devicePlugins.removeSockets();
        try {
            publisher.publish(new NodeFact.Departed("shutdown"), now());
            publisher.drain(DRAIN_TIMEOUT);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        exit.accept(0);
    }
}
