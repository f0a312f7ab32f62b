package io.gpufleet.health;

import io.gpufleet.health.config.HealthConfig;
import io.gpufleet.health.config.PolicyFile;
import io.gpufleet.health.config.PoolsFile;
import io.gpufleet.health.kafka.HistoryReader;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.NodeBudgetShare;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.policy.FaultRule;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.policy.RuleTiming;
import io.gpufleet.health.model.replay.EventExplainer;
import io.gpufleet.health.model.replay.ExplainedEvent;
import io.gpufleet.health.model.replay.PolicyComparison;
import io.gpufleet.health.model.replay.ReplaySummary;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.runtime.bus.BusConfig;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.KafkaException;

/**
 * Checks, explains and compares policies. Exit code 0: valid, or no decision differs; 1: decisions differ; 2: bad input, one
 * line on standard error; 3: Kafka does not answer.
 */
public final class PolicyMain {
    private static final String USAGE = "policy check FILE | policy explain xid N [--policy P]"
            + " | policy explain event ID [--policy P] [--from 7d] | policy diff A B [--from 7d] [--pools POOLS];"
            + " a policy is nvidia, conservative, aggressive or a file, POOLS unlimited, standard or a file";

    private final PrintStream out;
    private final PrintStream err;
    private final Map<String, String> environment;

    PolicyMain(PrintStream out, PrintStream err, Map<String, String> environment) {
        this.out = out;
        this.err = err;
        this.environment = environment;
    }

    /** Runs one command. */
    public static void main(String[] arguments) {
        System.exit(new PolicyMain(System.out, System.err, System.getenv()).run(arguments));
    }

    int run(String... arguments) {
        try {
            PolicyArguments parsed = PolicyArguments.of(arguments);
            String command = parsed.words().isEmpty() ? "" : parsed.words().getFirst();
            int operands = parsed.words().size() - 1;
            if (command.equals("check") && operands == 1) {
                return check(parsed.words().get(1));
            } else if (command.equals("explain") && (operands == 1 || operands == 2)) {
                HealthPolicy policy = policy(parsed.option("--policy"));
                Optional<String> event = parsed.event();
                return event.isPresent()
                        ? explain(event.get(), policy, parsed.from())
                        : explain(parsed.fault(), policy);
            } else if (command.equals("diff") && operands == 2) {
                return diff(parsed);
            }
            throw new ConfigurationException("usage: " + USAGE);
        } catch (ConfigurationException wrong) {
            err.println("policy: " + wrong.getMessage());
            return 2;
        } catch (KafkaException failed) {
            err.println("policy: the history cannot be read: " + failed.getMessage());
            return 3;
        }
    }

    private static HealthPolicy policy(String nameOrPath) {
        return PolicyFile.parse(nameOrPath, PolicyFile.text(nameOrPath));
    }

    private int check(String nameOrPath) {
        HealthPolicy policy = policy(nameOrPath);
        out.println("policy " + policy.name() + " is valid: " + policy.codes().size() + " rules of XIDs and SXIDs, "
                + policy.kinds().size() + " of kinds, " + policy.actions().size() + " of recovery actions");
        return 0;
    }

    private int explain(FaultCode fault, HealthPolicy policy) {
        FaultRule rule = policy.rule(fault, FaultReport.of(fault.requestedAction()));
        RuleTiming timing = rule.timing();
        out.println("rule                " + policy.name() + "/" + rule.name());
        out.println("class               " + rule.faultClass().slug());
        out.println("device              " + (rule.faultClass().withdraws() ? "withdrawn" : "stays in service"));
        out.println("node                "
                + (rule.faultClass().taintsNode() ? rule.nodeAction().done() : "not tainted"));
        out.println("recommended action  " + rule.recommendedAction().slug());
        out.println("acts                " + (timing.isImmediate() ? "at once" : when(timing)));
        Duration dwell = policy.recoveryDwell(fault.reason());
        out.println("after recovery      "
                + (dwell.isZero() ? "in service at once" : "out of service for " + dwell + " more")
                + (timing.probation().isZero() ? "" : ", probation " + timing.probation()));
        return 0;
    }

    private static String when(RuleTiming timing) {
        return "grace " + timing.grace() + ", after a boot " + timing.bootGrace() + ", threshold "
                + timing.threshold().count() + " of " + timing.threshold().of() + " within "
                + timing.threshold().within();
    }

    private int explain(String event, HealthPolicy policy, Duration from) {
        Instant since = Clock.systemUTC().instant().minus(from);
        var history = history();
        var replay = new EventExplainer(history.machine(policy), event);
        Optional<String> node = HistoryReader.nodeOf(event);
        long signals = node.isPresent()
                ? history.reader().readAround(node.get(), since, replay::signal, this::progress)
                : history.reader().read(since, replay::signal, this::progress);
        err.println();
        ExplainedEvent explained = replay.explained()
                .orElseThrow(() -> new ConfigurationException("event '" + event + "' is not among the " + signals
                        + " signals since " + since + "; --from goes further back"));
        out.println("policy     " + policy.name());
        explained.lines().forEach(out::println);
        history.reader()
                .decisions(explained.node(), explained.event().at(), event)
                .forEach(decision -> out.println("recorded   " + ExplainedEvent.line(decision)));
        return 0;
    }

    /** History that the service read, and the age up to which it acts on a fault. */
    private record History(HistoryReader reader, Duration maxActionAge) {
        HealthMachine machine(HealthPolicy policy) {
            return new HealthMachine(policy, maxActionAge);
        }
    }

    private History history() {
        var settings = Environment.read(environment, HealthMain.settings());
        var bus = BusConfig.from(settings);
        return new History(
                new HistoryReader(bus.kafka(), bus.codec()),
                HealthConfig.of(settings).maxActionAge());
    }

    private int diff(PolicyArguments arguments) {
        HealthPolicy first = policy(arguments.words().get(1));
        HealthPolicy second = policy(arguments.words().get(2));
        String pools = arguments.option("--pools");
        DisruptionBudgets budgets = PoolsFile.of(Mode.ENFORCE, pools, PoolsFile.text("--pools", pools));
        Instant now = Clock.systemUTC().instant();
        Instant since = now.minus(arguments.from());
        var history = history();
        var different = new AtomicLong();
        var comparison = new PolicyComparison(
                history.machine(first),
                history.machine(second),
                budgets,
                fleet(history.reader(), pools),
                difference -> {
                    different.incrementAndGet();
                    out.println(difference.line());
                });
        var nodes = new HashSet<String>();
        long signals = history.reader()
                .read(
                        since,
                        (node, signal) -> {
                            nodes.add(node);
                            comparison.signal(node, signal);
                        },
                        this::progress);
        comparison.passTime(now);
        err.println();
        out.println(ReplaySummary.HEAD);
        comparison.summaries().forEach(summary -> out.println(summary.line()));
        out.println(signals + " signals of " + nodes.size() + " nodes since " + since + ": " + different
                + " decisions differ between " + first.name() + " and " + second.name());
        return different.get() == 0 ? 0 : 1;
    }

    /** Without limits nothing depends on the size of the fleet. */
    private static Map<String, NodeBudgetShare> fleet(HistoryReader reader, String pools) {
        return pools.equals("unlimited") ? Map.of() : reader.fleet();
    }

    private void progress(int percent) {
        int filled = percent / 5;
        err.print("\r[" + "#".repeat(filled) + ".".repeat(20 - filled) + "] " + percent + " %");
        err.flush();
    }
}
