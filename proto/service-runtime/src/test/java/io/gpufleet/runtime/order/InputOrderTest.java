package io.gpufleet.runtime.order;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** Append times are in seconds; records of a partition are polled in chunks, as a consumer returns them. */
@NullMarked
class InputOrderTest {
    private static final int MOST = 5_000;

    private final TopicPartition allocation = new TopicPartition("allocation", 3);
    private final TopicPartition signals = new TopicPartition("signals", 3);
    private final TopicPartition other = new TopicPartition("signals", 4);
    private final TopicPartition heartbeats = new TopicPartition("telemetry", 3);
    private final Map<TopicPartition, Long> positions = new HashMap<>();
    private final Map<TopicPartition, Long> ends = new HashMap<>();
    private final InputOrder order = new InputOrder(partitions(), List.of(heartbeats), 0);
    private long second;
    private long endsSecond;

    private List<TopicPartition> partitions() {
        List<TopicPartition> all = new ArrayList<>();
        IntStream.range(0, 8).forEach(number -> {
            all.add(new TopicPartition("allocation", number));
            all.add(new TopicPartition("signals", number));
        });
        IntStream.range(0, 32).forEach(number -> all.add(new TopicPartition("verdicts", number)));
        all.forEach(partition -> ends.put(partition, 0L));
        ends.put(heartbeats, 0L);
        return all;
    }

    @Test
    void recordsOfOneNumberComeInTheOrderOfTheirAppendTimes() {
        backlog(allocation, 3);
        backlog(signals, 2);
        poll(signals, 15, 25);
        poll(allocation, 10, 20, 30);

        assertThat(taken())
                .containsExactly("allocation 10", "signals 15", "allocation 20", "signals 25", "allocation 30");
    }

    @Test
    void recordThatIsAheadWaitsForThePartitionThatHasOlderOnes() {
        backlog(allocation, 6);
        backlog(signals, 2);
        poll(signals, 15, 3_600);
        assertThat(taken()).isEmpty();

        poll(allocation, 10, 20);
        assertThat(taken()).containsExactly("allocation 10", "signals 15", "allocation 20");

        poll(allocation, 3_000, 3_500);
        assertThat(taken()).containsExactly("allocation 3000", "allocation 3500");

        poll(allocation, 3_599, 3_601);
        assertThat(taken()).containsExactly("allocation 3599", "signals 3600", "allocation 3601");
    }

    @Test
    void recordThatIsAheadByASecondDoesNotWait() {
        backlog(allocation, 6);
        backlog(signals, 1);
        poll(allocation, 10, 20);
        poll(signals, 21);

        assertThat(taken()).containsExactly("allocation 10", "allocation 20", "signals 21");
    }

    @Test
    void partitionsAheadAreHeldAndThatWhichIsAwaitedIsNot() {
        backlog(allocation, 2);
        backlog(signals, 3);
        poll(signals, 15, 3_600);
        taken();

        assertThat(order.held()).containsExactly(signals);
        assertThat(order.firstHeld(signals)).contains(0L);
        assertThat(order.firstHeld(allocation)).isEmpty();
    }

    @Test
    void partitionThatIsReadToItsEndHoldsNobodyBack() {
        backlog(allocation, 2);
        backlog(signals, 3);
        poll(allocation, 10, 20);
        poll(signals, 15, 3_600, 7_200);

        assertThat(taken()).hasSize(5).last().isEqualTo("signals 7200");
    }

    @Test
    void partitionWithoutRecordsHoldsNobodyBack() {
        backlog(signals, 1);
        poll(signals, 3_600);

        assertThat(taken()).containsExactly("signals 3600");
    }

    @Test
    void endOfMarkersAloneIsReachedWithoutARecord() {
        // Given a partition that ends with the marker of a transaction
        backlog(allocation, 1);
        backlog(signals, 1);
        poll(signals, 3_600);
        assertThat(taken()).isEmpty();

        // When the consumer has passed it
        positions.put(allocation, 1L);

        assertThat(taken()).containsExactly("signals 3600");
    }

    @Test
    void partitionWithoutALeaderHoldsNobodyBack() {
        ends.remove(allocation);
        backlog(signals, 1);
        poll(signals, 3_600);

        assertThat(taken()).containsExactly("signals 3600");
    }

    @Test
    void partitionThatDoesNotDeliverIsAwaitedForAWhileAndAgainOnceItDelivers() {
        backlog(allocation, 4);
        backlog(signals, 2);
        poll(signals, 3_600);
        assertThat(taken()).isEmpty();
        polls(20);
        pass(10);
        assertThat(taken()).isEmpty();

        pass(1);
        assertThat(taken()).containsExactly("signals 3600");

        poll(allocation, 10);
        poll(signals, 3_700);
        assertThat(taken()).containsExactly("allocation 10");
    }

    @Test
    void partitionIsAwaitedForManyPollsWhereTheRecordsOfOneTakeSeconds() {
        backlog(allocation, 4);
        backlog(signals, 2);
        poll(signals, 3_600);
        assertThat(taken()).isEmpty();

        for (int slow = 0; slow < 8; slow++) {
            pass(6);
            assertThat(taken()).isEmpty();
        }
    }

    @Test
    void probeThatIsNotAnsweredInTimeEndsNoWaiting() {
        backlog(allocation, 4);
        backlog(signals, 2);
        poll(signals, 3_600);
        assertThat(taken()).isEmpty();

        ends.remove(allocation);
        pass(2);
        assertThat(taken()).isEmpty();
    }

    @Test
    void partitionThatWasReadToItsEndAMomentAgoHoldsNobodyBack() {
        // Given everything was read, hours after the last record
        backlog(allocation, 1);
        poll(allocation, 10);
        taken();

        // When a record of it is on its way that the newest ends show
        pass(5);
        backlog(allocation, 1);
        backlog(signals, 1);
        poll(signals, 7_200);

        // Then it was appended within the last seconds
        assertThat(taken()).containsExactly("signals 7200");
    }

    @Test
    void partitionThatStaysBehindIsAwaited() {
        backlog(allocation, 1);
        poll(allocation, 10);
        taken();
        backlog(allocation, 1_000);
        pass(11);
        backlog(signals, 1);
        poll(signals, 7_200);

        assertThat(taken()).isEmpty();
    }

    @Test
    void nothingIsKnownAfterAPauseOfTheProcessUntilTheEndsAreAskedForAnew() {
        // Given
        poll(allocation);
        taken();
        second += 600;
        positions.put(signals, 1L);
        order.add(records(signals, 600));

        // When the ends are those from before
        assertThat(taken()).isEmpty();

        // Then new ones decide
        endsSecond = second;
        ends.put(signals, 1L);
        assertThat(taken()).containsExactly("signals 600");
    }

    @Test
    void endsThatNeverBecomeKnownAreAwaitedOnce() {
        ends.clear();
        poll(signals, 10);
        assertThat(taken()).isEmpty();
        pass(10);
        pass(1);
        assertThat(taken()).containsExactly("signals 10");

        poll(signals, 5_000);
        assertThat(taken()).containsExactly("signals 5000");
    }

    @Test
    void otherNumbersAndHeartbeatsAreNotWaitedForAndDoNotWait() {
        backlog(allocation, 1);
        backlog(other, 1);
        backlog(heartbeats, 2);
        poll(other, 3_600);
        poll(heartbeats, 3_700);

        assertThat(taken()).containsExactlyInAnyOrder("signals 3600", "telemetry 3700");
    }

    @Test
    void topicWithMorePartitionsIsOrderedWithTheSmallerOnes() {
        // Given a key of partition 3 of 8, which is in partition 3, 11, 19 or 27 of 32
        var verdicts = new TopicPartition("verdicts", 19);
        backlog(verdicts, 2);
        backlog(signals, 1);
        poll(signals, 3_600);
        assertThat(taken()).isEmpty();

        // Then old states of a compacted topic come first
        poll(verdicts, 5, 4_000);
        assertThat(taken()).containsExactly("verdicts 5", "signals 3600", "verdicts 4000");
    }

    @Test
    void clockOfABrokerThatWasSetBackOrAheadEndsNothing() {
        backlog(allocation, 4);
        backlog(signals, 2);
        poll(allocation, 5_000, 1_000, 1_010, 5_010);
        poll(signals, 4_990, 9_999_999);

        assertThat(taken())
                .containsExactly(
                        "signals 4990",
                        "allocation 5000",
                        "allocation 1000",
                        "allocation 1010",
                        "allocation 5010",
                        "signals 9999999");
    }

    @Test
    void partitionsTakeTurnsWhereThereIsNoRoomForAll() {
        backlog(signals, 4);
        backlog(other, 4);
        poll(signals, 1, 2, 3, 4);
        poll(other, 1, 2, 3, 4);

        assertThat(numbers(2)).containsExactly(3, 3);
        assertThat(numbers(2)).containsExactly(4, 4);
        assertThat(numbers(2)).containsExactly(3, 3);
        assertThat(numbers(2)).containsExactly(4, 4);
    }

    @Test
    void recordsThatTheLogNoLongerHasAreForgotten() {
        backlog(allocation, 1);
        backlog(signals, 3);
        poll(signals, 100, 200, 300);
        taken();

        order.drop(signals, 1);
        positions.put(signals, 1L);
        ends.put(signals, 1L);
        positions.put(allocation, 1L);

        assertThat(taken()).containsExactly("signals 100");
    }

    /** So many records of a partition are on the broker that were not there before; the probe finds them. */
    private void backlog(TopicPartition partition, long records) {
        ends.merge(partition, records, Long::sum);
        endsSecond = second;
    }

    private void poll(TopicPartition partition, long... seconds) {
        order.add(records(partition, seconds));
        positions.merge(partition, (long) seconds.length, Long::sum);
    }

    private List<ConsumerRecord<byte[], byte[]>> records(TopicPartition partition, long... seconds) {
        long from = positions.getOrDefault(partition, 0L);
        return IntStream.range(0, seconds.length)
                .mapToObj(i -> new ConsumerRecord<>(
                        partition.topic(),
                        partition.partition(),
                        from + i,
                        Duration.ofSeconds(seconds[i]).toMillis(),
                        TimestampType.LOG_APPEND_TIME,
                        0,
                        0,
                        new byte[0],
                        new byte[0],
                        new RecordHeaders(),
                        Optional.<Integer>empty()))
                .toList();
    }

    private void polls(int number) {
        for (int i = 0; i < number; i++) {
            compare();
        }
    }

    private void pass(long seconds) {
        second += seconds;
        compare();
    }

    private void compare() {
        order.compare(
                ends,
                Duration.ofSeconds(endsSecond).toNanos(),
                partition -> positions.getOrDefault(partition, 0L),
                Duration.ofSeconds(second).toNanos());
    }

    private List<String> taken() {
        compare();
        return order.take(MOST, Duration.ofSeconds(second).toNanos()).stream()
                .map(rec -> rec.topic() + " " + rec.timestamp() / 1_000)
                .toList();
    }

    private List<Integer> numbers(int most) {
        compare();
        return order.take(most, Duration.ofSeconds(second).toNanos()).stream()
                .map(ConsumerRecord::partition)
                .toList();
    }
}
