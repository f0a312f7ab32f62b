package io.gpufleet.nodedaemon.model.preferred;

import static io.gpufleet.nodedaemon.model.preferred.TestTopologies.range;
import static io.gpufleet.nodedaemon.model.preferred.TestTopologies.replica;
import static io.gpufleet.nodedaemon.model.preferred.TestTopologies.replicated;
import static io.gpufleet.nodedaemon.model.preferred.TestTopologies.uuids;
import static io.gpufleet.nodedaemon.model.preferred.TestTopologies.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.allocation.DeviceList;
import io.gpufleet.nodedaemon.model.device.Gpu;
import io.gpufleet.nodedaemon.model.settings.ReplicaAllocationPolicy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Preferred devices on the topologies of real machines. */
class PreferredAllocationTest {
    private static List<String> choose(List<Gpu> gpus, List<String> available, List<String> must, int size) {
        return PreferredAllocation.of(whole(gpus), ReplicaAllocationPolicy.DISTRIBUTED)
                .choose(available, must, size);
    }

    @Nested
    class OnNvSwitches {
        @Test
        void twoGpusShareTheirNumaNode() {
            assertThat(choose(TestTopologies.DGX_A100, uuids(1, 2, 4, 6, 7), List.of(), 2))
                    .containsExactlyInAnyOrderElementsOf(uuids(6, 7));
        }

        @Test
        void fourGpusAreWholePairsOfNeighbours() {
            assertThat(choose(TestTopologies.DGX_A100, range(0, 8), List.of(), 4))
                    .containsExactlyInAnyOrderElementsOf(uuids(0, 1, 2, 3));
            assertThat(choose(TestTopologies.DGX_A100, uuids(0, 2, 3, 4, 6, 7), List.of(), 4))
                    .containsExactlyInAnyOrderElementsOf(uuids(2, 3, 6, 7));
        }

        @Test
        void singleGpuIsTheOneWhosePartnerIsTaken() {
            assertThat(choose(TestTopologies.DGX_A100, uuids(0, 1, 2, 3, 4, 6, 7), List.of(), 1))
                    .isEqualTo(uuids(4));
        }

        @Test
        void eightOfSixteenStayOnOneSocket() {
            assertThat(choose(TestTopologies.DGX_2, range(0, 16), List.of(), 8))
                    .containsExactlyInAnyOrderElementsOf(range(0, 8));
            assertThat(choose(TestTopologies.DGX_2, range(0, 16), uuids(12), 8))
                    .containsExactlyInAnyOrderElementsOf(range(8, 16));
        }

        @Test
        void eightOfSixteenStayOnOneBoardWhateverTheSockets() {
            assertThat(choose(TestTopologies.TWO_BOARDS, range(0, 16), uuids(9), 8))
                    .containsExactlyInAnyOrderElementsOf(range(8, 16));
        }

        @Test
        void brokenBoardIsUsedUpBeforeTheWholeOne() {
            assertThat(choose(TestTopologies.TWO_BOARDS, range(3, 16), List.of(), 2))
                    .allMatch(range(3, 8)::contains);
            assertThat(choose(TestTopologies.TWO_BOARDS, range(0, 13), List.of(), 1))
                    .allMatch(range(8, 13)::contains);
        }
    }

    @Nested
    class InACubeMesh {
        @Test
        void twoGpusHaveADoubleLinkAndLeaveTheOtherQuadWhole() {
            assertThat(choose(TestTopologies.DGX_1, range(0, 8), List.of(), 2))
                    .isIn(uuids(0, 3), uuids(1, 2), uuids(2, 3), uuids(4, 7), uuids(5, 6), uuids(6, 7));
        }

        @Test
        void nextTwoComeFromTheBrokenQuad() {
            assertThat(choose(TestTopologies.DGX_1, uuids(0, 3, 4, 5, 6, 7), List.of(), 2))
                    .containsExactlyInAnyOrderElementsOf(uuids(0, 3));
        }

        @Test
        void fourGpusAreAQuad() {
            assertThat(choose(TestTopologies.DGX_1, range(0, 8), List.of(), 4))
                    .containsExactlyInAnyOrderElementsOf(range(0, 4));
            assertThat(choose(TestTopologies.DGX_1, range(0, 8), uuids(6), 4))
                    .containsExactlyInAnyOrderElementsOf(range(4, 8));
        }

        @Test
        void singleGpuLeavesTheLargestCliqueWhole() {
            assertThat(choose(TestTopologies.DGX_1, uuids(0, 1, 2, 3, 5), List.of(), 1))
                    .isEqualTo(uuids(5));
        }

        @Test
        void lostGpuIsNotChosenAndItsQuadIsUsedUpFirst() {
            // Given
            var allocation =
                    PreferredAllocation.of(whole(TestTopologies.DGX_1, 1), ReplicaAllocationPolicy.DISTRIBUTED);

            // When
            var two = allocation.choose(range(0, 8), List.of(), 2);
            var four = allocation.choose(range(0, 8), List.of(), 4);

            // Then
            assertThat(two).hasSize(2).isSubsetOf(uuids(0, 2, 3));
            assertThat(four).containsExactlyInAnyOrderElementsOf(range(4, 8));
        }

        @Test
        void endThatOnlyOneSideSeesIsNoLink() {
            // Given
            int[][] links = new int[4][4];
            links[0][1] = 6;
            links[2][3] = 1;
            links[3][2] = 1;
            var gpus = TestTopologies.meshed(new int[] {1, 2, 3, 4}, new int[4], links);

            // Then
            assertThat(choose(gpus, range(0, 4), List.of(), 2)).containsExactlyInAnyOrderElementsOf(uuids(2, 3));
        }
    }

    @Nested
    class OnPcie {
        @Test
        void gpusShareTheirNumaNode() {
            assertThat(choose(TestTopologies.PCIE, uuids(0, 1, 3, 4, 5, 6, 7), List.of(), 4))
                    .containsExactlyInAnyOrderElementsOf(range(4, 8));
            assertThat(choose(TestTopologies.PCIE, uuids(0, 2, 3, 4, 5, 6, 7), List.of(), 2))
                    .isSubsetOf(range(0, 4));
        }

        @Test
        void gpusShareTheirSwitchWhateverTheirBusNumbers() {
            // Given
            var gpus = new ArrayList<Gpu>();
            for (int i = 0; i < 8; i++) {
                String bridge = "0000:0" + i / 4 + ":01.0";
                String port = "0000:1" + i % 2 + ":0" + i / 4 + ".0";
                gpus.add(TestTopologies.routed(
                        TestTopologies.PCIE.get(i), List.of("0000:0" + i / 4, bridge, port, "0000:2" + i + ":00.0")));
            }

            // Then
            assertThat(choose(gpus, uuids(1, 2, 3), List.of(), 2)).containsExactlyInAnyOrderElementsOf(uuids(1, 3));
            assertThat(choose(gpus, range(0, 8), uuids(4), 2)).containsExactlyInAnyOrderElementsOf(uuids(4, 6));
        }

        @Test
        void singleGpuComesFromTheSmallerGroup() {
            assertThat(choose(TestTopologies.PCIE, range(1, 8), List.of(), 1)).allMatch(range(1, 4)::contains);
        }

        @Test
        void whatMustBeInDrawsTheOthersToIt() {
            assertThat(choose(TestTopologies.PCIE, range(0, 8), uuids(5), 3))
                    .contains(TestTopologies.uuid(5))
                    .hasSize(3)
                    .isSubsetOf(range(4, 8));
        }
    }

    @Nested
    class UnusualRequests {
        private final PreferredAllocation allocation =
                PreferredAllocation.of(whole(TestTopologies.DGX_A100, 2), ReplicaAllocationPolicy.DISTRIBUTED);

        @Test
        void moreThanThereIsGetsAllThereIs() {
            assertThat(allocation.choose(uuids(0, 1), List.of(), 5)).containsExactlyInAnyOrderElementsOf(uuids(0, 1));
        }

        @Test
        void unhealthyAndUnknownIdsFillUpInThatOrder() {
            // Given
            var available = List.of("GPU-who", TestTopologies.uuid(2), TestTopologies.uuid(0));

            // Then
            assertThat(allocation.choose(available, List.of(), 1)).isEqualTo(uuids(0));
            assertThat(allocation.choose(available, List.of(), 2)).containsExactlyElementsOf(uuids(0, 2));
            assertThat(allocation.choose(available, List.of(), 3)).containsExactly("GPU-00", "GPU-02", "GPU-who");
        }

        @Test
        void duplicatesCountOnce() {
            assertThat(allocation.choose(uuids(0, 0, 1, 1, 3), uuids(1, 1), 2))
                    .hasSize(2)
                    .doesNotHaveDuplicates();
        }

        @Test
        void whatMustBeInIsInEvenIfUnknownOrUnhealthy() {
            assertThat(allocation.choose(range(0, 8), List.of("GPU-who", "GPU-02"), 4))
                    .hasSize(4)
                    .contains("GPU-who", "GPU-02");
        }

        @Test
        void sizeBelowOneGetsNothing() {
            assertThat(allocation.choose(range(0, 8), uuids(0), 0)).isEmpty();
            assertThat(allocation.choose(range(0, 8), uuids(0), Integer.MIN_VALUE))
                    .isEmpty();
        }

        @Test
        void moreMustBeInThanIsAskedForGetsTheFirst() {
            assertThat(allocation.choose(range(0, 8), uuids(5, 6, 7), 2)).isEqualTo(uuids(5, 6));
        }

        @Test
        void emptyListStillAnswers() {
            // Given
            var empty = PreferredAllocation.of(new DeviceList(0, List.of()), ReplicaAllocationPolicy.PACKED);

            // Then
            assertThat(empty.choose(uuids(3, 4), uuids(4), 2)).containsExactlyInAnyOrderElementsOf(uuids(3, 4));
            assertThat(empty.choose(List.of(), List.of(), 2)).isEmpty();
        }
    }

    @Nested
    class SharedGpus {
        private final DeviceList list = replicated(TestTopologies.PCIE, 4);

        private List<String> without(List<String> taken) {
            var free = new ArrayList<String>();
            list.devices().forEach(offer -> free.add(offer.id()));
            free.removeAll(taken);
            return free;
        }

        @Test
        void distributedTakesTheGpuWithTheFewestTaken() {
            // Given
            var taken = List.of(replica(0, 0), replica(0, 1), replica(1, 0), replica(2, 0), replica(3, 2));
            var allocation = PreferredAllocation.of(list, ReplicaAllocationPolicy.DISTRIBUTED);

            // Then
            assertThat(allocation.choose(without(taken), List.of(), 1)).containsExactly(replica(4, 0));
            assertThat(allocation.choose(without(taken), List.of(), 4))
                    .containsExactlyInAnyOrder(replica(4, 0), replica(5, 0), replica(6, 0), replica(7, 0));
        }

        @Test
        void packedFillsAGpuBeforeItOpensAnother() {
            // Given
            var taken = List.of(replica(0, 0), replica(2, 0), replica(2, 1));
            var allocation = PreferredAllocation.of(list, ReplicaAllocationPolicy.PACKED);

            // Then
            assertThat(allocation.choose(without(taken), List.of(), 3))
                    .containsExactlyInAnyOrder(replica(2, 2), replica(2, 3), replica(0, 1));
        }

        @Test
        void whatMustBeInCountsAsTaken() {
            // Given
            var must = List.of(replica(6, 3));

            // Then
            assertThat(PreferredAllocation.of(list, ReplicaAllocationPolicy.PACKED)
                            .choose(without(List.of()), must, 2))
                    .containsExactly(replica(6, 3), replica(6, 0));
            assertThat(PreferredAllocation.of(list, ReplicaAllocationPolicy.DISTRIBUTED)
                            .choose(without(List.of()), must, 4))
                    .contains(replica(6, 3), replica(4, 0), replica(5, 0), replica(7, 0));
        }
    }

    @Test
    void manyGpusGetWholeBoards() {
        // Given
        var gpus = TestTopologies.boards(4);

        // Then
        assertThat(choose(gpus, range(1, 32), List.of(), 8)).containsExactlyInAnyOrderElementsOf(range(8, 16));
        assertThat(choose(gpus, range(1, 32), List.of(), 7)).containsExactlyInAnyOrderElementsOf(range(1, 8));
        assertThat(choose(gpus, range(3, 32), List.of(), 2)).isSubsetOf(range(3, 8));
        assertThat(choose(gpus, range(0, 32), uuids(20), 16)).hasSize(16).containsAll(range(16, 24));
    }

    @Test
    void anotherListOfTheSameGpusAnswersWithItsOwnHealth() {
        // Given
        var before = PreferredAllocation.of(whole(TestTopologies.DGX_A100), ReplicaAllocationPolicy.DISTRIBUTED);

        // When
        var after = before.with(whole(TestTopologies.DGX_A100, 0), ReplicaAllocationPolicy.DISTRIBUTED);

        // Then
        assertThat(before.choose(range(0, 3), List.of(), 2)).containsExactlyInAnyOrderElementsOf(uuids(0, 1));
        assertThat(after.choose(range(0, 3), List.of(), 2)).containsExactlyInAnyOrderElementsOf(uuids(1, 2));
        assertThat(after.with(whole(TestTopologies.PCIE), ReplicaAllocationPolicy.DISTRIBUTED)
                        .choose(uuids(0, 1, 4), List.of(), 2))
                .containsExactlyInAnyOrderElementsOf(uuids(0, 1));
    }
}
