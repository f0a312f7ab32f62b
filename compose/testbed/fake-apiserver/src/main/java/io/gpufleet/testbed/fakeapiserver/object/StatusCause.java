package io.gpufleet.testbed.fakeapiserver.object;

/**
 * A cause in a Status object.
 *
 * @param field path of the field
 * @param reason machine-readable reason, such as {@code FieldValueInvalid}
 * @param message text without the path
 */
public record StatusCause(String field, String reason, String message) {
    /** An invalid value; it is quoted, as by the real server. */
    public static StatusCause invalid(String field, String value, String why) {
        return new StatusCause(field, "FieldValueInvalid", "Invalid value: \"" + value + "\": " + why);
    }

    /** A missing required field. */
    public static StatusCause required(String field, String why) {
        return new StatusCause(
                field, "FieldValueRequired", why.isEmpty() ? "Required value" : "Required value: " + why);
    }

    /** A forbidden change. */
    public static StatusCause forbidden(String field, String why) {
        return new StatusCause(field, "FieldValueForbidden", "Forbidden: " + why);
    }
}
