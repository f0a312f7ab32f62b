package io.gpufleet.cli.drill;

import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.cli.fleet.Program;
import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.wire.Topic;
import io.gpufleet.wire.Topics;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A drill.
 *
 * @param name what the command takes
 * @param disturbance what is done
 * @param part the part of the fleet that it is done to, or a topic
 */
public record Drill(String name, Disturbance disturbance, String part) {
    private static final String KAFKA = "kafka";
    /** Facts that a daemon cannot send, and verdicts that the health-service cannot commit. */
    private static final List<Topic> LEADERLESS = List.of(Topic.HEALTH, Topic.VERDICTS);

    /** Every drill of a fleet. An API server is only frozen: the one of a fleet forgets its objects when it ends. */
    public static List<Drill> of(FleetState fleet) {
        var drills = new ArrayList<Drill>();
        for (FleetState.FleetProcess part : fleet.processes()) {
            String name = part.name();
            if (name.equals(KAFKA)) {
                drills.add(new Drill("broker-kill", Disturbance.KILL, name));
                drills.add(new Drill("broker-restart", Disturbance.RESTART, name));
                drills.add(new Drill("broker-away", Disturbance.AWAY, name));
                drills.add(new Drill("broker-away-at-start", Disturbance.AWAY_AT_START, name));
                drills.add(new Drill("broker-disk-full", Disturbance.DISK_FULL, name));
                LEADERLESS.forEach(topic -> drills.add(new Drill(
                        "no-leader-" + topic.suffix(),
                        Disturbance.NO_LEADER,
                        new Topics(Topics.DEFAULT_PREFIX).name(topic))));
            } else if (part.program().equals(Program.FAKE_API_SERVER.name())) {
                drills.add(new Drill("api-server-away", Disturbance.FREEZE, name));
            } else if (Program.isService(part.program())) {
                drills.add(new Drill("kill-" + name, Disturbance.KILL, name));
                drills.add(new Drill("freeze-" + name, Disturbance.FREEZE, name));
                drills.add(new Drill("slow-" + name, Disturbance.SLOW, name));
                drills.add(new Drill("clock-jump-" + name, Disturbance.CLOCK_JUMP, name));
                drills.addAll(ofWebhook(part));
            }
        }
        // All daemons run the same program: one of them is enough.
        fleet.nodes().stream()
                .findFirst()
                .map(FleetState.FleetNode::name)
                .ifPresent(node -> drills.addAll(List.of(
                        new Drill("kill-" + node, Disturbance.KILL, node),
                        new Drill("disk-full-" + node, Disturbance.DISK_FULL, node),
                        new Drill("clock-jump-" + node, Disturbance.CLOCK_JUMP, node))));
        return List.copyOf(drills);
    }

    /** Those of the first service that has the webhook. */
    private static List<Drill> ofWebhook(FleetState.FleetProcess service) {
        String name = service.name();
        return service.program().equals(Program.ALLOCATION.name()) && name.endsWith("-0")
                ? List.of(
                        new Drill("secret-deleted", Disturbance.SECRET_DELETED, name),
                        new Drill("certificate-expired", Disturbance.CERTIFICATE_EXPIRED, name),
                        new Drill("reviews", Disturbance.REVIEWS, name))
                : List.of();
    }

    /** The drills of these names, all where there is none; an unknown name is an error that lists the names. */
    public static List<Drill> named(FleetState fleet, List<String> names) {
        List<Drill> all = of(fleet);
        for (String name : names) {
            if (all.stream().noneMatch(drill -> drill.name().equals(name))) {
                throw new ConfigurationException("'" + name + "' is no drill of this fleet; it has "
                        + all.stream().map(Drill::name).collect(Collectors.joining(", ")));
            }
        }
        return names.isEmpty()
                ? all
                : all.stream().filter(drill -> names.contains(drill.name())).toList();
    }
}
