package io.gpufleet.cli.drill;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.cli.cluster.KubernetesCluster;
import io.gpufleet.cli.fleet.ConsoleProgress;
import io.gpufleet.cli.fleet.FaultFile;
import io.gpufleet.cli.fleet.FleetPartControl;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.kit.config.ConfigurationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Runs drills, one after the other. Each begins with a pod that holds a GPU; while the part is disturbed, another GPU
 * fails; afterwards the fault is cleared, and a new pod wants a GPU.
 */
public final class DrillRun {
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    /** Most conditions hold sooner. */
    private static final Duration EXPLAINED_AFTER = Duration.ofSeconds(10);

    private static final Duration POLL = Duration.ofMillis(100);
    private static final int XID = 79;
    private static final int MIN_GPUS = 2;
    private static final String BEFORE = "before";
    private static final String AFTER = "after";

    private final ObservedFleet fleet;
    private final Function<Drill, Ongoing> disturbances;
    private final FleetState.FleetNode node;
    private final ConsoleProgress progress;
    private final Times times;
    private final CountDownLatch ended = new CountDownLatch(1);
    private @Nullable Ongoing ongoing;

    /**
     * Times of a drill.
     *
     * @param away how long a disturbance lasts that lasts
     * @param patience how long each condition is waited for
     */
    record Times(Duration away, Duration patience) {}

    DrillRun(
            ObservedFleet fleet,
            Function<Drill, Ongoing> disturbances,
            FleetState.FleetNode node,
            ConsoleProgress progress,
            Times times) {
        this.fleet = fleet;
        this.disturbances = disturbances;
        this.node = node;
        this.progress = progress;
        this.times = times;
    }

    /**
     * Drills of a running fleet.
     *
     * @param away how long a disturbance lasts that lasts
     */
    public static DrillRun of(
            FleetPartControl parts, KubernetesCluster cluster, ConsoleProgress progress, Duration away) {
        var webhook = new DrillWebhook(cluster.client());
        FleetState.FleetNode node = parts.state().nodes().stream()
                .filter(each -> each.gpus() >= MIN_GPUS)
                .findFirst()
                .orElseThrow(() -> new ConfigurationException(
                        "a drill needs a node with two GPUs; './gpufleet up --nodes 1 --gpus 4' has one"));
        return new DrillRun(
                new DrillFleet(parts, cluster, webhook),
                drill -> drill.disturbance().begin(parts, webhook, drill.part()),
                node,
                progress,
                new Times(away, PATIENCE));
    }

    /** Runs one drill; the part runs again when it returns, and the fault is cleared. */
    public List<Invariant> run(Drill drill) throws InterruptedException {
        try {
            String pod = prepare();
            long deadLetters = fleet.deadLetters();
            long fault = System.nanoTime();
            Optional<Ongoing.Outcome> outcome = disturb(drill);
            var found = new ArrayList<Invariant>();
            found.add(check(
                    fault, "every part is ready again", () -> fleet.notReady().isEmpty(), fleet::notReady));
            found.add(check(fault, "a fault during the drill taints the node", () -> fleet.tainted(node.name())));
            found.add(check(
                    fault, "one GPU is withdrawn, not more", () -> fleet.allocatable(node.name()) == node.gpus() - 1));
            found.add(check(
                    fault,
                    "the pod from before still runs",
                    () -> fleet.runningPod(BEFORE).equals(Optional.of(pod))));
            long end = System.nanoTime();
            FaultFile.remove(node, node.gpus() - 1);
            found.add(check(end, "the taint goes with the fault", () -> !fleet.tainted(node.name())));
            found.add(check(end, "every GPU is offered again", () -> fleet.allocatable(node.name()) == node.gpus()));
            found.add(check(end, "a new pod gets a GPU", this::newPodRuns));
            found.add(check(end, "the webhook answers, its Secret is valid", fleet::webhookIsSound));
            found.add(check(end, "no record went to the dead letters", () -> fleet.deadLetters() == deadLetters));
            outcome.ifPresent(its ->
                    found.add(new Invariant(its.sentence(), its.objection().isEmpty(), secondsSince(fault))));
            return List.copyOf(found);
        } finally {
            FaultFile.remove(node, node.gpus() - 1);
            fleet.deletePods(BEFORE, AFTER);
        }
    }

    /** Waits until the fleet is sound and a pod holds a GPU; returns its uid. */
    private String prepare() throws InterruptedException {
        boolean sound = await(() -> fleet.notReady().isEmpty()
                && !fleet.tainted(node.name())
                && fleet.allocatable(node.name()) == node.gpus()
                && fleet.podsGone()
                && fleet.webhookIsSound());
        if (!sound) {
            throw new ConfigurationException("a drill begins with a sound fleet: every part ready, and " + node.name()
                    + " without a fault; see './gpufleet status' and './gpufleet why " + node.name() + "'"
                    + fleet.notReady().stream().map(line -> "; " + line).collect(Collectors.joining()));
        }
        fleet.createPod(BEFORE);
        await(() -> fleet.runningPod(BEFORE).isPresent());
        return fleet.runningPod(BEFORE)
                .orElseThrow(() -> new IllegalStateException("the pod that a drill begins with does not run after "
                        + times.patience().toSeconds() + " s"));
    }

    /** Begins the disturbance, has a GPU fail, and ends it. */
    private Optional<Ongoing.Outcome> disturb(Drill drill) throws InterruptedException {
        progress.print("  " + drill.part() + " is " + drill.disturbance().text()
                + (drill.disturbance().lasts() ? " for " + times.away().toSeconds() + " s" : "")
                + "; GPU " + (node.gpus() - 1) + " of " + node.name() + " fails");
        Optional<Ongoing.Outcome> outcome;
        try {
            begin(drill);
            FaultFile.write(node, node.gpus() - 1, XID);
            if (drill.disturbance().lasts()) {
                pause(times.away());
            }
        } finally {
            outcome = end();
        }
        outcome.map(Ongoing.Outcome::objection)
                .filter(objection -> !objection.isEmpty())
                .ifPresent(objection -> progress.print("    " + objection));
        return outcome;
    }

    private synchronized void begin(Drill drill) {
        ongoing = disturbances.apply(drill);
    }

    /** Once, whoever comes first: the drill itself, or the end of the command. */
    private synchronized Optional<Ongoing.Outcome> end() {
        Ongoing begun = ongoing;
        if (begun == null) {
            return Optional.empty();
        }
        begun.end();
        ongoing = null;
        return begun.outcome();
    }

    /** Ends what is going on, for a command that is ended meanwhile: the part runs again, and the fault is cleared. */
    public void restore() {
        ended.countDown();
        end();
        FaultFile.remove(node, node.gpus() - 1);
    }

    private boolean newPodRuns() {
        if (fleet.runningPod(AFTER).isEmpty()) {
            try {
                fleet.createPod(AFTER);
            } catch (ConfigurationException refused) {
                // Exists already, or is refused for now: asked again.
            }
        }
        return fleet.runningPod(AFTER).isPresent();
    }

    private Invariant check(long since, String sentence, BooleanSupplier condition) throws InterruptedException {
        return check(since, sentence, condition, List::of);
    }

    /** With what speaks against the condition, printed where it is waited for long, and where it does not hold. */
    private Invariant check(long since, String sentence, BooleanSupplier condition, Supplier<List<String>> objections)
            throws InterruptedException {
        boolean holds = await(condition, () -> print(objections));
        double seconds = secondsSince(since);
        progress.print("    %-42s %s".formatted(sentence, holds ? "yes" : "NO"));
        if (!holds) {
            print(objections);
        }
        return new Invariant(sentence, holds, seconds);
    }

    private void print(Supplier<List<String>> objections) {
        objections.get().forEach(line -> progress.print("      " + line));
    }

    private static double secondsSince(long nanos) {
        return (System.nanoTime() - nanos) / 1e9;
    }

    /** Waits for a time, or until the command is ended; true for the latter. */
    private boolean pause(Duration time) throws InterruptedException {
        return ended.await(time.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** True once the condition holds; an API server that does not answer is waited for. */
    private boolean await(BooleanSupplier condition) throws InterruptedException {
        return await(condition, () -> {});
    }

    /** As {@link #await(BooleanSupplier)}; {@code lasts} is run once where it takes long. */
    private boolean await(BooleanSupplier condition, Runnable lasts) throws InterruptedException {
        long begun = System.nanoTime();
        long deadline = begun + times.patience().toNanos();
        boolean told = false;
        do {
            try {
                if (condition.getAsBoolean()) {
                    return true;
                }
            } catch (KubernetesClientException notNow) {
                // Asked again until the deadline.
            }
            if (!told && System.nanoTime() - begun > EXPLAINED_AFTER.toNanos()) {
                told = true;
                lasts.run();
            }
        } while (!pause(POLL) && System.nanoTime() < deadline);
        return false;
    }
}
