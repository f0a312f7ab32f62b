package io.gpufleet.allocation.model.scheduling;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** One requirement of a label selector or of a node selector term. */
public record SelectorRequirement(String key, Operator operator, List<String> values) {
    /** Operator on the value of the key. */
    public enum Operator {
        /** The value is one of the values. */
        IN,
        /** The key is absent, or its value is none of the values. */
        NOT_IN,
        /** The key is present. */
        EXISTS,
        /** The key is absent. */
        DOES_NOT_EXIST,
        /** The value is an integer greater than the first of the values. */
        GT,
        /** The value is an integer less than the first of the values. */
        LT,
        /** Operator of a newer Kubernetes: always matches, so that no pod stays uncounted. */
        UNKNOWN;

        /** Operator by its name in the Kubernetes API. */
        public static Operator of(String name) {
            return switch (name) {
                case "In" -> IN;
                case "NotIn" -> NOT_IN;
                case "Exists" -> EXISTS;
                case "DoesNotExist" -> DOES_NOT_EXIST;
                case "Gt" -> GT;
                case "Lt" -> LT;
                default -> UNKNOWN;
            };
        }
    }

    /** Copies. */
    public SelectorRequirement {
        values = List.copyOf(values);
    }

    /** True when the labels match. */
    public boolean matches(Map<String, String> labels) {
        boolean present = labels.containsKey(key);
        String value = labels.getOrDefault(key, "");
        return switch (operator) {
            case IN -> present && values.contains(value);
            case NOT_IN -> !present || !values.contains(value);
            case EXISTS -> present;
            case DOES_NOT_EXIST -> !present;
            case GT -> present && compare(value) > 0;
            case LT -> present && compare(value) < 0;
            case UNKNOWN -> true;
        };
    }

    private int compare(String value) {
        OptionalLong actual = number(value);
        OptionalLong bound = values.isEmpty() ? OptionalLong.empty() : number(values.getFirst());
        return actual.isPresent() && bound.isPresent() ? Long.compare(actual.getAsLong(), bound.getAsLong()) : 0;
    }

    private static OptionalLong number(String text) {
        try {
            return OptionalLong.of(Long.parseLong(text));
        } catch (NumberFormatException notANumber) {
            return OptionalLong.empty();
        }
    }
}
