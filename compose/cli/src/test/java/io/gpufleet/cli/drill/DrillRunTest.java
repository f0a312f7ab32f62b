package io.gpufleet.cli.drill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.cli.fleet.ConsoleProgress;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.kit.config.ConfigurationException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Drills of a stand-in of a fleet, which behaves as it should but for one defect. */
class DrillRunTest {
    private static final String NODE = "node-1";
    private static final int GPUS = 4;
    private static final Drill DRILL = new Drill("kill-health-service-0", Disturbance.KILL, "health-service-0");

    @TempDir
    private Path faults;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    /** What a stand-in does wrong. */
    private enum Defect {
        NONE,
        PART_STAYS_AWAY,
        NO_TAINT,
        TWO_GPUS_WITHDRAWN,
        POD_IS_REPLACED,
        TAINT_STAYS,
        GPU_STAYS_WITHDRAWN,
        NO_NEW_POD,
        WEBHOOK_IS_GONE,
        DEAD_LETTER,
        OWN_FINDING
    }

    /** A fleet that takes a file of a fault for the fault. */
    private final class FakeFleet implements ObservedFleet {
        private final Defect defect;
        private final Map<String, String> pods = new HashMap<>();
        private boolean disturbed;

        FakeFleet(Defect defect) {
            this.defect = defect;
        }

        private boolean shows(Defect asked) {
            return disturbed && defect == asked;
        }

        private boolean faulty() {
            try (Stream<Path> files = Files.list(faults)) {
                return files.findAny().isPresent();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        Ongoing disturb() {
            disturbed = true;
            return new Ongoing() {
                @Override
                public void end() {}

                @Override
                public Optional<Outcome> outcome() {
                    return Optional.of(new Outcome("its own", shows(Defect.OWN_FINDING) ? "not so" : ""));
                }
            };
        }

        @Override
        public List<String> notReady() {
            return shows(Defect.PART_STAYS_AWAY) ? List.of("health-service-0 has ended") : List.of();
        }

        @Override
        public boolean tainted(String node) {
            return (faulty() && defect != Defect.NO_TAINT) || shows(Defect.TAINT_STAYS);
        }

        @Override
        public int allocatable(String node) {
            if (shows(Defect.GPU_STAYS_WITHDRAWN)) {
                return GPUS - 1;
            }
            int withdrawn = defect == Defect.TWO_GPUS_WITHDRAWN ? 2 : 1;
            return faulty() ? GPUS - withdrawn : GPUS;
        }

        @Override
        public void createPod(String name) {
            if (!shows(Defect.NO_NEW_POD)) {
                pods.put(name, "uid-of-" + name);
            }
        }

        @Override
        public Optional<String> runningPod(String name) {
            return Optional.ofNullable(pods.get(name)).map(uid -> shows(Defect.POD_IS_REPLACED) ? "another" : uid);
        }

        @Override
        public void deletePods(String... names) {
            pods.keySet().removeAll(List.of(names));
        }

        @Override
        public boolean podsGone() {
            return pods.isEmpty();
        }

        @Override
        public long deadLetters() {
            return shows(Defect.DEAD_LETTER) ? 1 : 0;
        }

        @Override
        public boolean webhookIsSound() {
            return !shows(Defect.WEBHOOK_IS_GONE);
        }
    }

    private DrillRun run(FakeFleet fleet) {
        return new DrillRun(
                fleet,
                _ -> fleet.disturb(),
                new FleetState.FleetNode(NODE, GPUS, "H100", "sockets", faults.toString(), "metrics"),
                new ConsoleProgress(new PrintStream(printed, true, StandardCharsets.UTF_8)),
                // Each condition is looked at once.
                new DrillRun.Times(Duration.ZERO, Duration.ZERO));
    }

    private DrillReport report(Defect defect) throws InterruptedException {
        var report = new DrillReport();
        report.add(DRILL, run(new FakeFleet(defect)).run(DRILL));
        return report;
    }

    @Test
    void drillOfASoundFleetHoldsAndEndsWithStatus0() throws Exception {
        DrillReport report = report(Defect.NONE);

        assertThat(report.render().lines()).hasSize(11).noneMatch(line -> line.contains(" NO "));
        assertThat(report.exitStatus()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "PART_STAYS_AWAY, every part is ready again",
        "NO_TAINT, a fault during the drill taints the node",
        "TWO_GPUS_WITHDRAWN, 'one GPU is withdrawn, not more'",
        "POD_IS_REPLACED, the pod from before still runs",
        "TAINT_STAYS, the taint goes with the fault",
        "GPU_STAYS_WITHDRAWN, every GPU is offered again",
        "NO_NEW_POD, a new pod gets a GPU",
        "WEBHOOK_IS_GONE, 'the webhook answers, its Secret is valid'",
        "DEAD_LETTER, no record went to the dead letters",
        "OWN_FINDING, its own",
    })
    void brokenInvariantIsPrintedAsNoAndEndsWithStatus1(Defect defect, String invariant) throws Exception {
        DrillReport report = report(defect);

        assertThat(report.render().lines().filter(line -> line.contains(" NO ")))
                .singleElement()
                .asString()
                .startsWith(DRILL.name())
                .contains(invariant);
        assertThat(report.exitStatus()).isEqualTo(1);
        assertThat(faults).isEmptyDirectory();
    }

    @Test
    void objectionsArePrintedWhereAnInvariantIsBroken() throws Exception {
        report(Defect.PART_STAYS_AWAY);

        assertThat(printed.toString(StandardCharsets.UTF_8)).contains("NO").contains("health-service-0 has ended");
    }

    @Test
    void fleetThatIsNotSoundBeginsNoDrill() {
        var fleet = new FakeFleet(Defect.WEBHOOK_IS_GONE);
        fleet.disturb();

        assertThatThrownBy(() -> run(fleet).run(DRILL))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("a drill begins with a sound fleet");
    }
}
