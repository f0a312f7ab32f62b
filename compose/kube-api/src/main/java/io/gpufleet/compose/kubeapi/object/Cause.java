package io.gpufleet.compose.kubeapi.object;

/**
 * One reason in a refusal.
 *
 * @param field path of the field
 * @param reason machine-readable word, such as {@code FieldValueInvalid}
 * @param message text without the path
 */
public record Cause(String field, String reason, String message) {
    /** A value that may not stand there; the value is printed quoted, as the real server does. */
    public static Cause invalid(String field, String value, String why) {
        return new Cause(field, "FieldValueInvalid", "Invalid value: \"" + value + "\": " + why);
    }

    /** A field that must be there. */
    public static Cause required(String field, String why) {
        return new Cause(field, "FieldValueRequired", why.isEmpty() ? "Required value" : "Required value: " + why);
    }

    /** A change that is not allowed. */
    public static Cause forbidden(String field, String why) {
        return new Cause(field, "FieldValueForbidden", "Forbidden: " + why);
    }
}
