package io.gpufleet.nodedaemon.sides;

import io.gpufleet.nodedaemon.model.MpsOrder;
import io.gpufleet.nodedaemon.model.SideStates;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells MPS control daemons what is wanted, and looks every 5 s at what they and installers say. */
public final class SidesWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SidesWatch.class);
    private static final long LOOK_SECONDS = 5;
    private static final long LOOK_SOON_SECONDS = 1;
    private static final int LONGEST_WORD = 200;
    /** {@code <root>/nvidia.com/gpu/wanted}. */
    private static final int DEPTH = 3;

    private final Path runDirectory;
    private final Path processes;
    private final Supplier<Orders> orders;
    private final Consumer<SideStates> said;
    private final Clock clock;
    private final BlockingQueue<Boolean> wakes = new ArrayBlockingQueue<>(1);
    private final Thread thread;
    private Set<Path> roots = Set.of();
    private SideStates last = SideStates.NONE;

    /**
     * What is wanted of MPS.
     *
     * @param root directory of all folders; also where nothing is wanted, so that old orders can be taken back
     */
    public record Orders(Path root, List<MpsOrder> all) {
        /** Copies the list. */
        public Orders {
            all = List.copyOf(all);
        }
    }

    /** A watch that waits for the first {@link #look}; process ids are looked up below {@code processes}. */
    public SidesWatch(
            Path runDirectory, Path processes, Supplier<Orders> orders, Consumer<SideStates> said, Clock clock) {
        this.runDirectory = runDirectory;
        this.processes = processes;
        this.orders = orders;
        this.said = said;
        this.clock = clock;
        this.thread = Thread.ofPlatform().name("sides").daemon(true).start(this::run);
    }

    /** Devices were listed: looks at once. */
    public void look() {
        boolean _ = wakes.offer(true);
    }

    private void run() {
        try {
            // What is wanted is not known before devices were listed once; an order of before stays until then.
            wakes.take();
            while (true) {
                boolean trouble = lookOnce();
                wakes.poll(trouble ? LOOK_SOON_SECONDS : LOOK_SECONDS, TimeUnit.SECONDS);
                wakes.clear();
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Looks once; whether something is not as it is wanted. */
    boolean lookOnce() {
        Orders wanted = orders.get();
        var states = new TreeMap<String, String>();
        for (MpsOrder order : wanted.all()) {
            states.put(order.resource(), folder(Path.of(order.folder())).carriedOut(order));
        }
        takeBack(wanted);
        var now = new SideStates(installer(), states);
        if (!now.equals(last)) {
            now.mpsTrouble(states.keySet())
                    .forEach((resource, why) -> LOG.atWarn()
                            .addKeyValue("resource", resource)
                            .addKeyValue("why", why)
                            .log("MPS does not work, its shares are withdrawn"));
            last = now;
            said.accept(now);
        }
        return !now.mpsTrouble(states.keySet()).isEmpty();
    }

    private MpsFolder folder(Path path) {
        return new MpsFolder(path, processes, clock);
    }

    /** Orders that no longer stand, also those of an earlier start and below an earlier root. */
    private void takeBack(Orders wanted) {
        var all = new HashSet<>(roots);
        all.add(wanted.root());
        roots = Set.copyOf(all);
        Set<String> standing =
                new HashSet<>(wanted.all().stream().map(MpsOrder::folder).toList());
        roots.forEach(root -> takeBack(root, standing));
    }

    private void takeBack(Path root, Set<String> standing) {
        if (!Files.isDirectory(root)) {
            return;
        }
        try (Stream<Path> files = Files.find(root, DEPTH, (file, _) -> file.endsWith(MpsFolder.WANTED))) {
            List<Path> folders = files.map(file -> file.resolveSibling(""))
                    .filter(folder -> !standing.contains(folder.toString()))
                    .toList();
            for (Path folder : folders) {
                if (folder(folder).giveUp()) {
                    LOG.atInfo().addKeyValue("folder", folder).log("MPS is wanted here no longer");
                }
            }
        } catch (IOException | UncheckedIOException failed) {
            LOG.atDebug()
                    .addKeyValue("root", root)
                    .addKeyValue("error", failed.toString())
                    .log("old orders for MPS can not be taken back");
        }
    }

    /** The first line of {@code installer}, which whoever installs a driver writes; empty where nobody does. */
    private String installer() {
        try (Stream<String> lines = Files.lines(runDirectory.resolve("installer"))) {
            String word = lines.findFirst().orElse("").strip();
            return word.length() <= LONGEST_WORD ? word : word.substring(0, LONGEST_WORD);
        } catch (IOException | UncheckedIOException nobody) {
            return "";
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
