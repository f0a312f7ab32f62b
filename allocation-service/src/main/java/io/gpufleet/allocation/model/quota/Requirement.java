package io.gpufleet.allocation.model.quota;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** One requirement of a label selector or of a node selector term. */
public record Requirement(String key, Operator operator, List<String> values) {
    /** What is required of the value. */
    public enum Operator {
        /** Is one of the values. */
        IN,
        /** Is none of them, or absent. */
        NOT_IN,
        /** Is there. */
        EXISTS,
        /** Is not there. */
        DOES_NOT_EXIST,
        /** Is a greater whole number. */
        GT,
        /** Is a smaller whole number. */
        LT,
        /** An operator that this version does not know: taken as met, so that nothing slips by uncounted. */
        UNKNOWN;

        /** Reads Kubernetes' word. */
        public static Operator of(String word) {
            return switch (word) {
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
    public Requirement {
        values = List.copyOf(values);
    }

    /** True when the labels meet it. */
    public boolean metBy(Map<String, String> labels) {
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
        OptionalLong have = number(value);
        OptionalLong bound = values.isEmpty() ? OptionalLong.empty() : number(values.getFirst());
        return have.isPresent() && bound.isPresent() ? Long.compare(have.getAsLong(), bound.getAsLong()) : 0;
    }

    private static OptionalLong number(String text) {
        try {
            return OptionalLong.of(Long.parseLong(text));
        } catch (NumberFormatException notANumber) {
            return OptionalLong.empty();
        }
    }
}
