package io.gpufleet.inventory.model.taint;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A taint of a Node.
 *
 * @param key qualified name
 * @param value valid label value, empty for none
 * @param effect {@code NoSchedule}, {@code PreferNoSchedule} or {@code NoExecute}
 */
public record NodeTaint(String key, String value, String effect) {
    private static final String NAME = "[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
    private static final Pattern TEXT = Pattern.compile("((?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?" + NAME
            + ")(?:=((?:" + NAME + ")?))?:(NoSchedule|PreferNoSchedule|NoExecute)");

    /** Parses {@code key=value:Effect} or {@code key:Effect}, as kubectl writes taints; empty where it is not valid. */
    public static Optional<NodeTaint> parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        return matcher.matches()
                ? Optional.of(new NodeTaint(
                        matcher.group(1), Optional.ofNullable(matcher.group(2)).orElse(""), matcher.group(3)))
                : Optional.empty();
    }

    /** Whether a Node cannot have both: the API server identifies a taint by key and effect. */
    public boolean sameIdentity(NodeTaint other) {
        return key.equals(other.key) && effect.equals(other.effect);
    }

    /** The text that {@link #parse} reads. */
    @Override
    public String toString() {
        return key + (value.isEmpty() ? "" : "=" + value) + ":" + effect;
    }
}
