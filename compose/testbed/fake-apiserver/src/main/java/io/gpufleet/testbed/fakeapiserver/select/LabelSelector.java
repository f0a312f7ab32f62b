package io.gpufleet.testbed.fakeapiserver.select;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Requirements on labels, all of which must match.
 *
 * @param requirements empty selects everything
 */
public record LabelSelector(List<Requirement> requirements) implements Predicate<JsonNode> {
    private static final Pattern SET = Pattern.compile("([^\\s,!=()]+)\\s+(in|notin)\\s*\\(([^)]*)\\)");
    private static final Pattern EQUALITY = Pattern.compile("([^\\s,!=()]+)\\s*(==|=|!=)\\s*([^\\s,!=()]*)");
    private static final Pattern NUMERIC = Pattern.compile("([^\\s,!=()<>]+)\\s*([<>])\\s*(-?\\d+)");
    private static final Pattern PRESENCE = Pattern.compile("(!?)\\s*([^\\s,!=()]+)");
    private static final Pattern NEXT = Pattern.compile("\\s*,\\s*");

    /** Operators of requirements. */
    public enum Operator {
        IN,
        NOT_IN,
        EXISTS,
        DOES_NOT_EXIST,
        GREATER,
        LESS
    }

    /**
     * One requirement.
     *
     * @param key name of the label
     * @param values empty for presence and absence
     */
    public record Requirement(String key, Operator operator, List<String> values) {
        boolean matches(JsonNode labels) {
            JsonNode value = labels.path(key);
            boolean there = !value.isMissingNode();
            return switch (operator) {
                case IN -> there && values.contains(value.asText());
                case NOT_IN -> !there || !values.contains(value.asText());
                case EXISTS -> there;
                case DOES_NOT_EXIST -> !there;
                case GREATER -> there && compareAsNumber(value.asText()) > 0;
                case LESS -> there && compareAsNumber(value.asText()) < 0;
            };
        }

        private int compareAsNumber(String value) {
            try {
                return Long.compare(Long.parseLong(value), Long.parseLong(values.getFirst()));
            } catch (NumberFormatException neitherGreaterNorLess) {
                return 0;
            }
        }
    }

    /** True when the labels of an object match. */
    @Override
    public boolean test(JsonNode object) {
        return matchesLabels(object.path("metadata").path("labels"));
    }

    /** True when a set of labels matches. */
    public boolean matchesLabels(JsonNode labels) {
        return requirements.stream().allMatch(requirement -> requirement.matches(labels));
    }

    /** From a query parameter: {@code a=b,c!=d,e in (f,g),!h}. */
    public static LabelSelector parse(String text) {
        List<Requirement> found = new ArrayList<>();
        int position = 0;
        String rest = text.strip();
        while (position < rest.length()) {
            position = parseRequirement(rest, position, found);
            if (position < rest.length()) {
                Matcher comma = NEXT.matcher(rest).region(position, rest.length());
                if (!comma.lookingAt()) {
                    throw ApiError.badRequest("unable to parse requirement: found '" + rest.substring(position)
                            + "', expected: ',' or 'end of string'");
                }
                position = comma.end();
            }
        }
        return new LabelSelector(List.copyOf(found));
    }

    private static int parseRequirement(String text, int from, List<Requirement> found) {
        Matcher matcher = SET.matcher(text).region(from, text.length());
        if (matcher.lookingAt()) {
            Operator operator = matcher.group(2).equals("in") ? Operator.IN : Operator.NOT_IN;
            found.add(new Requirement(
                    matcher.group(1),
                    operator,
                    Stream.of(matcher.group(3).split(",", -1))
                            .map(String::strip)
                            .toList()));
            return matcher.end();
        }
        matcher.usePattern(NUMERIC).region(from, text.length());
        if (matcher.lookingAt()) {
            Operator operator = matcher.group(2).equals(">") ? Operator.GREATER : Operator.LESS;
            found.add(new Requirement(matcher.group(1), operator, List.of(matcher.group(3))));
            return matcher.end();
        }
        matcher.usePattern(EQUALITY).region(from, text.length());
        if (matcher.lookingAt()) {
            Operator operator = matcher.group(2).equals("!=") ? Operator.NOT_IN : Operator.IN;
            found.add(new Requirement(matcher.group(1), operator, List.of(matcher.group(3))));
            return matcher.end();
        }
        matcher.usePattern(PRESENCE).region(from, text.length());
        if (matcher.lookingAt()) {
            Operator operator = matcher.group(1).isEmpty() ? Operator.EXISTS : Operator.DOES_NOT_EXIST;
            found.add(new Requirement(matcher.group(2), operator, List.of()));
            return matcher.end();
        }
        throw ApiError.badRequest("unable to parse requirement: '" + text.substring(from) + "'");
    }

    /** From an object's field with {@code matchLabels} and {@code matchExpressions}; a missing field selects all. */
    public static LabelSelector of(JsonNode field) {
        List<Requirement> found = new ArrayList<>();
        field.path("matchLabels")
                .properties()
                .forEach(label -> found.add(new Requirement(
                        label.getKey(), Operator.IN, List.of(label.getValue().asText()))));
        for (JsonNode expression : field.path("matchExpressions")) {
            found.add(requirement(expression));
        }
        return new LabelSelector(List.copyOf(found));
    }

    /** From one match expression, of labels or of node affinity. */
    public static Requirement requirement(JsonNode expression) {
        List<String> values = StreamSupport.stream(expression.path("values").spliterator(), false)
                .map(JsonNode::asText)
                .toList();
        Operator operator = switch (expression.path("operator").asText()) {
            case "In" -> Operator.IN;
            case "NotIn" -> Operator.NOT_IN;
            case "Exists" -> Operator.EXISTS;
            case "DoesNotExist" -> Operator.DOES_NOT_EXIST;
            case "Gt" -> Operator.GREATER;
            case "Lt" -> Operator.LESS;
            default ->
                throw ApiError.badRequest(
                        "\"" + expression.path("operator").asText() + "\" is not a valid label selector operator");
        };
        return new Requirement(expression.path("key").asText(), operator, values);
    }
}
