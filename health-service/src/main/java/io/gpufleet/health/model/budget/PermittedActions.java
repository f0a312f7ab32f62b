package io.gpufleet.health.model.budget;

import java.util.Map;
import java.util.Optional;

/** Actions that are permitted on one node now. */
public interface PermittedActions {
    /** Everything. */
    PermittedActions ALL = new PermittedActions() {
        @Override
        public Mode mode(Map<String, String> labels) {
            return Mode.ENFORCE;
        }

        @Override
        public Optional<String> refusesTaint() {
            return Optional.empty();
        }

        @Override
        public Optional<String> refusesDevices(int more) {
            return Optional.empty();
        }
    };

    /** Nothing new, for this reason. */
    static PermittedActions heldBackBy(String reason, PermittedActions otherwise) {
        return new PermittedActions() {
            @Override
            public Mode mode(Map<String, String> labels) {
                return otherwise.mode(labels);
            }

            @Override
            public Optional<String> refusesTaint() {
                return Optional.of(reason);
            }

            @Override
            public Optional<String> refusesDevices(int more) {
                return Optional.of(reason);
            }
        };
    }

    /** Mode of the pool that selects a node with these labels. */
    Mode mode(Map<String, String> labels);

    /** The budget that has no room for its taint, for example {@code nodes of pool training}. */
    Optional<String> refusesTaint();

    /** The budget that has no room for so many more of its devices. */
    Optional<String> refusesDevices(int more);

    /** The limits that a taint has to keep and what is out already, one line; empty without limits. */
    default String nodeBudget() {
        return "";
    }

    /** The limits that a withdrawal has to keep and what is out already, one line; empty without limits. */
    default String deviceBudget() {
        return "";
    }
}
