package io.gpufleet.nodedaemon;

import io.gpufleet.nodedaemon.app.Counters;
import io.gpufleet.nodedaemon.app.DeviceSource;
import io.gpufleet.nodedaemon.app.DeviceWatch;
import io.gpufleet.nodedaemon.app.Input;
import io.gpufleet.nodedaemon.app.KubeletDesk;
import io.gpufleet.nodedaemon.app.LifeSigns;
import io.gpufleet.nodedaemon.app.NodeLoop;
import io.gpufleet.nodedaemon.app.PreparedLooks;
import io.gpufleet.nodedaemon.app.TimedSource;
import io.gpufleet.nodedaemon.app.XidPolicy;
import io.gpufleet.nodedaemon.config.DaemonConfig;
import io.gpufleet.nodedaemon.deviceplugin.KubeletLinks;
import io.gpufleet.nodedaemon.disk.BreakGlass;
import io.gpufleet.nodedaemon.disk.Host;
import io.gpufleet.nodedaemon.disk.RestartMark;
import io.gpufleet.nodedaemon.disk.StateFile;
import io.gpufleet.nodedaemon.holdfiles.HoldFiles;
import io.gpufleet.nodedaemon.http.DcgmPage;
import io.gpufleet.nodedaemon.http.MetricsPage;
import io.gpufleet.nodedaemon.http.OfferPage;
import io.gpufleet.nodedaemon.http.OpsDoor;
import io.gpufleet.nodedaemon.http.ProcessPage;
import io.gpufleet.nodedaemon.kafka.Bus;
import io.gpufleet.nodedaemon.kafka.BusSettings;
import io.gpufleet.nodedaemon.kafka.Epoch;
import io.gpufleet.nodedaemon.kafka.Verdicts;
import io.gpufleet.nodedaemon.kmsg.KernelLog;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultPolicy;
import io.gpufleet.nodedaemon.model.HostFacts;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.MpsOrder;
import io.gpufleet.nodedaemon.model.SettingsChoice;
import io.gpufleet.nodedaemon.model.settings.SharePlan;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import io.gpufleet.nodedaemon.nvml.binding.ProcessEnd;
import io.gpufleet.nodedaemon.podresources.PodResources;
import io.gpufleet.nodedaemon.settings.NvidiaEnvironment;
import io.gpufleet.nodedaemon.settings.SettingsDesk;
import io.gpufleet.nodedaemon.sides.SidesWatch;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The daemon put together: every room is made here, and only here do they meet. */
final class DaemonMain implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DaemonMain.class);
    private static final String VERSION = "0.1.0";
    /** What must be closed before a driver can be unloaded begins so. */
    private static final String GPU_NODES = "/dev/nvidia";

    private static final Duration FAREWELL = Duration.ofMillis(50);

    /** Clients of Kafka take a second of processor time to make; the kubelet's first list goes before them. */
    private static final Duration KUBELET_FIRST = Duration.ofMillis(500);

    /** Set where the virtual machine is to write an archive of its classes at its end, which a quick end would skip. */
    private static final String KEEP_CLASS_DATA = "gpufleet.keep-class-data";

    private final Counters counters = new Counters();
    private final StateFile store;
    private final Bus bus;
    private final Verdicts verdicts;
    private final KubeletLinks kubelet;
    private final PodResources podResources;
    private final NodeLoop loop;
    private final PreparedLooks looks;
    private final TimedSource timed;
    private final DeviceWatch devices;
    private final SettingsDesk chosen;
    private final SidesWatch sides;
    private final OpsDoor http;
    private final LongSupplier kernelLogOverruns;
    private final BreakGlass breakGlass;
    private volatile IntConsumer end = Runtime.getRuntime()::halt;

    DaemonMain(DaemonConfig config, Map<String, String> environment) throws InterruptedException {
        String node = config.kafka().node();
        DeviceSource source = Sources.open(config.devices(), node);
        timed = new TimedSource(source, counters, System::nanoTime);
        HostFacts host = Host.facts(config.state().bootIdFile(), source.name(), VERSION);
        BlockingQueue<Input> inbox = NodeLoop.inbox();
        var vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setWorkerPoolSize(3));
        Path stateDirectory = config.state().stateDirectory();
        long epoch = Epoch.next(stateDirectory, System.currentTimeMillis());
        var settings = busSettings(config, host);
        store = new StateFile(stateDirectory);
        bus = new Bus(vertx, settings, epoch, DaemonMain::now, lost -> inbox.add(new Input.BacklogSent(lost)));
        bus.connectAfter(KUBELET_FIRST);
        verdicts = new Verdicts(settings, overlay -> inbox.add(new Input.OverlayRead(overlay)));
        breakGlass = new BreakGlass(
                config.kafka().ignoreVerdictsFile(), ignored -> inbox.add(new Input.VerdictsIgnored(ignored)));
        chosen = settingsDesk(config, environment, inbox);
        var allocator = Sources.allocator(chosen.choice().otherwise().settings());
        var desk = new KubeletDesk(allocator, DaemonMain::now, counters, inbox::add);
        kubelet = links(vertx, config, epoch, desk, inbox);
        sides = sidesWatch(config, desk, inbox);
        podResources = podResources(vertx, config);
        loop = new NodeLoop(
                new NodeLoop.Parts(
                        host,
                        new FaultPolicy(XidPolicy.withdrawing(), config.timing().recoveryDwell(), XidOverrides.NONE),
                        verdicts.kept(),
                        config.kafka().obeyVerdicts(),
                        bus,
                        store,
                        desk,
                        this::show,
                        podResources,
                        counters,
                        new FreshStart(
                                new RestartMark(config.state().runDirectory()),
                                store,
                                bus,
                                status -> end.accept(status))),
                inbox,
                DaemonMain::now);
        http = OpsDoor.open(vertx, config.httpHost(), config.httpPort(), answers(node));
        looks = Sources.prepared(timed, config, chosen.choice(), inbox::add);
        var holds = new HoldFiles(config.state().runDirectory(), GPU_NODES);
        devices = new DeviceWatch(looks, holds, config.timing().telemetryInterval(), inbox::add, DaemonMain::now);
        kernelLogOverruns = followKernelLog(config, host, inbox);
        vertx.setTimer(KUBELET_FIRST.toMillis(), _ -> verdicts.start());
        breakGlass.start();
        chosen.start();
        prepareEnd(source);
        LOG.atInfo()
                .addKeyValue("node", node)
                .addKeyValue("devices", config.devices().source())
                .addKeyValue("epoch", epoch)
                .addKeyValue("http", http.port())
                .log("daemon runs");
    }

    /** What containers need under other settings is there before anybody answers by them. */
    private void settle(SettingsChoice choice, BlockingQueue<Input> inbox) {
        looks.settle(choice);
        inbox.add(new Input.SettingsChosen(choice));
    }

    /**
     * Where native code is loaded in any case, its quicker end costs next to nothing. Simulated and recorded GPUs load
     * none: thousands of such daemons would pay for 300 ms at the end of each.
     */
    private void prepareEnd(DeviceSource source) {
        if (source.name().equals("nvml") && !Boolean.getBoolean(KEEP_CLASS_DATA)) {
            Thread.ofPlatform().name("process-end").daemon(true).start(() -> end = ProcessEnd.load()::now);
        }
    }

    private static SidesWatch sidesWatch(DaemonConfig config, KubeletDesk desk, BlockingQueue<Input> inbox) {
        return new SidesWatch(
                config.state().runDirectory(),
                Path.of("/proc"),
                () -> {
                    SharePlan sharing = desk.allocator().settings().sharing();
                    return new SidesWatch.Orders(Path.of(sharing.mpsRoot()), MpsOrder.of(desk.offers(), sharing));
                },
                said -> inbox.add(new Input.SidesSaid(said)),
                Clock.systemUTC());
    }

    /** The kubelet first: it waits for the list, MPS control daemons look for their orders when they like. */
    private void show(Map<String, DeviceList> lists) {
        kubelet.show(lists);
        sides.look();
    }

    private SettingsDesk settingsDesk(
            DaemonConfig config, Map<String, String> environment, BlockingQueue<Input> inbox) {
        var settings = new SettingsDesk(
                Sources.places(config), new NvidiaEnvironment(environment), choice -> settle(choice, inbox));
        inbox.add(new Input.SettingsChosen(settings.choice()));
        if (!config.choice().directory().isEmpty()) {
            verdicts.alsoLabel(settings::labelled);
        }
        return settings;
    }

    private KubeletLinks links(
            Vertx vertx, DaemonConfig config, long epoch, KubeletDesk desk, BlockingQueue<Input> inbox) {
        var kubelet = config.kubelet();
        return new KubeletLinks(
                vertx,
                new KubeletLinks.LinkSettings(
                        kubelet.devicePluginDirectory(),
                        kubelet.pluginsRegistry(),
                        kubelet.manners(),
                        epoch,
                        () -> FileSystems.getDefault().newWatchService(),
                        () -> inbox.add(new Input.CheckpointChanged())),
                desk,
                counters,
                System::nanoTime);
    }

    private static PodResources podResources(Vertx vertx, DaemonConfig config) {
        return new PodResources(
                vertx,
                config.kubelet().podResourcesSocket(),
                config.kubelet().devicePluginDirectory().resolve("kubelet_internal_checkpoint"),
                name -> name.startsWith("nvidia.com/"),
                Clock.systemUTC());
    }

    private LongSupplier followKernelLog(DaemonConfig config, HostFacts host, BlockingQueue<Input> inbox) {
        return config.devices()
                .kernelMessages()
                .<LongSupplier>map(file -> new KernelLog(
                        new KernelLog.Settings(
                                file,
                                config.state().stateDirectory(),
                                host.bootId(),
                                () -> host.uptime().toNanos() / 1_000),
                        report -> {
                            inbox.add(new Input.KernelSaid(report));
                            devices.pollSoon();
                        })::overruns)
                .orElse(() -> 0);
    }

    private static BusSettings busSettings(DaemonConfig config, HostFacts host) {
        return new BusSettings(
                config.kafka().bootstrap(),
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

    private OpsDoor.Answers answers(String node) {
        return new OpsDoor.Answers(
                () -> lifeSigns().notAlive(), () -> lifeSigns().notReady(), () -> metrics(node));
    }

    private LifeSigns lifeSigns() {
        return new LifeSigns(
                loop.sinceLastTurn(),
                timed.underWay(),
                kubelet.stuckServer(),
                loop.snapshot().looked(),
                kubelet.notRegistered());
    }

    private String metrics(String node) {
        Bus.BusView view = bus.view();
        Map<String, Long> gauges = new TreeMap<>();
        gauges.put("gpufleet_daemon_bus_connected", view.connected() ? 1L : 0L);
        gauges.put("gpufleet_daemon_bus_connects_total", view.attempts());
        gauges.put("gpufleet_daemon_bus_events_sent_total", view.sent());
        gauges.put("gpufleet_daemon_bus_events_refused_total", view.refused());
        gauges.put("gpufleet_daemon_outbox_bytes", view.outboxBytes());
        gauges.put("gpufleet_daemon_outbox_events_lost_total", view.lost());
        gauges.put("gpufleet_daemon_outbox_disk_broken", view.diskBroken() ? 1L : 0L);
        gauges.put("gpufleet_daemon_verdicts_caught_up", verdicts.caughtUp() ? 1L : 0L);
        gauges.put("gpufleet_daemon_verdicts_ignored", breakGlass.broken() ? 1L : 0L);
        gauges.put("gpufleet_daemon_kernel_log_overruns_total", kernelLogOverruns.getAsLong());
        gauges.put("gpufleet_daemon_kubelet_streams", (long) kubelet.openStreams());
        NodeLoop.Snapshot snapshot = loop.snapshot();
        long nanos = System.nanoTime();
        String own = new MetricsPage()
                .counters(counters)
                .node(snapshot, nanos)
                .gauges(gauges)
                .text();
        return DcgmPage.of(snapshot.readout(), counters.tally(), node, nanos)
                + OfferPage.of(snapshot.readout(), counters.tally(), nanos)
                + ProcessPage.of(snapshot.readout(), nanos)
                + own;
    }

    /** Says farewell where that takes no time, and ends: everything else is made to survive a kill. */
    @Override
    public void close() {
        kubelet.leave();
        try {
            bus.publish(new Fact.Departed("shutdown"), now());
            bus.drain(FAREWELL);
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        }
        end.accept(0);
    }
}
