package io.gpufleet.health.kafka;

import io.gpufleet.health.model.fault.DaemonWithdrawal;
import io.gpufleet.health.model.fault.Episode;
import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.Faults;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.fault.RepairHistory;
import io.gpufleet.health.model.fault.SuspectReason;
import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.proto.health.v1.Attempts;
import io.gpufleet.proto.health.v1.DeviceHealthState;
import io.gpufleet.proto.health.v1.EpisodeState;
import io.gpufleet.proto.health.v1.SeenFault;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/** Maps faults, and what is remembered of former ones, to the changelog and back, without loss. */
final class FaultsMapper {
    private FaultsMapper() {}

    static List<SeenFault> seen(Faults faults) {
        // As of almost every device, of which a state has eight.
        if (faults.seen().isEmpty()) {
            return List.of();
        }
        return faults.seen().entrySet().stream()
                .map(seen -> {
                    FaultCode code = seen.getKey();
                    boolean recovery = code.kind() == FaultKind.RECOVERY_ACTION;
                    return SeenFault.newBuilder()
                            .setKind(EnumMapping.toWire(code.kind()))
                            .setXid(recovery ? 0 : code.number())
                            .setRecoveryAction(EnumMapping.toWire(
                                    recovery ? RecoveryAction.values()[code.number()] : RecoveryAction.UNSPECIFIED))
                            .addAllAt(seen.getValue().stream()
                                    .map(TimestampMapping::toWire)
                                    .toList())
                            .build();
                })
                .toList();
    }

    static SequencedMap<FaultCode, List<Instant>> seen(List<SeenFault> wire) {
        var seen = new TreeMap<FaultCode, List<Instant>>();
        wire.forEach(fault -> seen.put(
                EnumMapping.code(
                        EnumMapping.recognized(fault.getKind()),
                        fault.getXid(),
                        EnumMapping.action(EnumMapping.recognized(fault.getRecoveryAction()))),
                fault.getAtList().stream().map(TimestampMapping::fromWire).toList()));
        return seen;
    }

    static List<Attempts> attempts(RepairHistory history) {
        if (history.attempts().isEmpty()) {
            return List.of();
        }
        return history.attempts().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(made -> Attempts.newBuilder()
                        .setAction(EnumMapping.toWire(made.getKey()))
                        .setCount(made.getValue().count())
                        .setLast(TimestampMapping.toWire(made.getValue().last()))
                        .build())
                .toList();
    }

    static Map<RecommendedAction, RepairHistory.Attempts> attempts(List<Attempts> wire) {
        var attempts = new EnumMap<RecommendedAction, RepairHistory.Attempts>(RecommendedAction.class);
        wire.forEach(made -> attempts.put(
                EnumMapping.recommendedAction(EnumMapping.recognized(made.getAction())),
                new RepairHistory.Attempts(made.getCount(), TimestampMapping.fromWire(made.getLast()))));
        return attempts;
    }

    /** The faults of a device. */
    static Faults device(DeviceHealthState wire) {
        if (wire.getEpisodesCount() == 0
                && wire.getSeenCount() == 0
                && wire.getAttemptsCount() == 0
                && !wire.hasRecurrenceLast()
                && !wire.hasRecovered()) {
            return Faults.NONE;
        }
        return new Faults(episodes(wire.getEpisodesList()), seen(wire.getSeenList()), history(wire));
    }

    /** Older records have boots only. */
    private static RepairHistory history(DeviceHealthState wire) {
        Map<RecommendedAction, RepairHistory.Attempts> attempts = attempts(wire.getAttemptsList());
        if (wire.hasRecurrenceLast()) {
            attempts.put(
                    RecommendedAction.REBOOT,
                    new RepairHistory.Attempts(
                            wire.getRecurrenceBoots(), TimestampMapping.fromWire(wire.getRecurrenceLast())));
        }
        return new RepairHistory(
                attempts, wire.hasRecovered() ? TimestampMapping.fromWire(wire.getRecovered()) : Instant.EPOCH);
    }

    static EpisodeState toWire(Episode episode) {
        EpisodeState.Builder state = EpisodeState.newBuilder()
                .setKind(EnumMapping.toWire(episode.code().kind()))
                .setXid(
                        episode.code().kind() == FaultKind.RECOVERY_ACTION
                                ? 0
                                : episode.code().number())
                .setRecoveryAction(EnumMapping.toWire(episode.action()))
                .setWithdraws(episode.withdrawnByNode())
                .setWithdrawalRule(
                        EnumMapping.toWire(episode.report().withdrawal().rule()))
                .setSubcode(episode.report().subcode())
                .setSince(TimestampMapping.toWire(episode.since()))
                .setObservations(episode.observations())
                .setBootId(episode.bootId())
                .setEventId(episode.eventId())
                .setActs(episode.acts())
                .setInGrace(episode.inGrace())
                .setBelowThreshold(episode.restraint().threshold())
                .setEpoch(episode.reporter().epoch());
        if (episode.forgotten()) {
            state.setForgotten(true);
        }
        return state.build();
    }

    static SequencedMap<FaultCode, Episode> episodes(List<EpisodeState> wire) {
        var episodes = new TreeMap<FaultCode, Episode>();
        wire.forEach(open -> {
            RecoveryAction action = EnumMapping.action(EnumMapping.recognized(open.getRecoveryAction()));
            FaultCode code = EnumMapping.code(EnumMapping.recognized(open.getKind()), open.getXid(), action);
            episodes.put(
                    code,
                    new Episode(
                            code,
                            new FaultReport(
                                    action,
                                    new DaemonWithdrawal(
                                            open.getWithdraws(),
                                            EnumMapping.rule(EnumMapping.recognized(open.getWithdrawalRule()))),
                                    open.getSubcode()),
                            TimestampMapping.fromWire(open.getSince()),
                            open.getObservations(),
                            new Episode.Reporter(open.getBootId(), open.getEpoch(), open.getForgotten()),
                            open.getEventId(),
                            open.getActs(),
                            new SuspectReason(open.getInGrace(), open.getBelowThreshold())));
        });
        return episodes;
    }
}
