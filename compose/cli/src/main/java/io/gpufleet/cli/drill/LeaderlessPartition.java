package io.gpufleet.cli.drill;

import io.gpufleet.cli.bus.OnlyReplica;
import io.gpufleet.cli.fleet.FleetPartControl;
import io.gpufleet.cli.fleet.FleetState;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.wire.Topics;

/**
 * The partition of a node in one topic without a leader: its only replica is moved to a second broker, which ends. All
 * others stay where they are.
 */
final class LeaderlessPartition implements Ongoing {
    private static final int FIRST_BROKER = 1;

    private final OnlyReplica replica;
    private final FleetPartControl parts;
    private final BrokerProcess second;

    private LeaderlessPartition(OnlyReplica replica, FleetPartControl parts) {
        this.replica = replica;
        this.parts = parts;
        this.second = parts.startSecondBroker();
    }

    static LeaderlessPartition begin(FleetPartControl parts, String topic) {
        FleetState fleet = parts.state();
        var replica = new OnlyReplica(
                fleet.bootstrap(),
                new Topics(Topics.DEFAULT_PREFIX).byName(topic).orElseThrow(),
                fleet.nodes().getFirst().name());
        var partition = new LeaderlessPartition(replica, parts);
        replica.moveTo(FleetPartControl.SECOND_BROKER);
        partition.second.stop();
        replica.awaitNoLeader();
        return partition;
    }

    /** The second broker starts again, gives the replica back, and leaves. What ended without the partition starts, too. */
    @Override
    public void end() {
        second.restart();
        replica.awaitLeader(FleetPartControl.SECOND_BROKER);
        replica.moveTo(FIRST_BROKER);
        second.close();
        replica.removeBroker(FleetPartControl.SECOND_BROKER);
        replica.close();
        parts.deleteSecondBroker();
        var _ = parts.startDead();
    }
}
