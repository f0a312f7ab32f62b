package io.gpufleet.nodedaemon.simulated.recording;

import io.gpufleet.nodedaemon.model.device.Reading;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Converts records of the model to JSON and back by reflection on their components. A component that an older recording does
 * not have is read as "not recorded", empty, or a record of such.
 *
 * <pre>
 * record               object with a key per component
 * variant of a sealed  object with the simple class name under "is"
 * Reading              the value, or {"unavailable": reason}
 * collection, map      array, object with sorted keys
 * enum                 its name
 * </pre>
 */
final class ReflectiveJsonCodec {
    private static final String KIND = "is";
    private static final String UNAVAILABLE = "unavailable";
    private static final Reading<Object> NOT_RECORDED = new Reading.Unavailable<>("not recorded");

    private ReflectiveJsonCodec() {}

    /** Converts a value to a JsonObject, a JsonArray or a plain value. */
    static Object write(Object value) {
        return switch (value) {
            case Reading.Known<?>(Object known) -> write(known);
            case Reading.Unavailable<?>(String reason) -> new JsonObject().put(UNAVAILABLE, reason);
            case Record record -> record(record);
            case Map<?, ?> map -> {
                var json = new JsonObject();
                map.entrySet().stream()
                        .sorted((a, b) ->
                                a.getKey().toString().compareTo(b.getKey().toString()))
                        .forEach(entry -> json.put(String.valueOf(write(entry.getKey())), write(entry.getValue())));
                yield json;
            }
            case Collection<?> collection -> {
                var json = new JsonArray();
                collection.forEach(each -> json.add(write(each)));
                yield json;
            }
            case Enum<?> constant -> constant.name();
            default -> value;
        };
    }

    private static JsonObject record(Record record) {
        var json = new JsonObject();
        if (isSealedVariant(record.getClass())) {
            json.put(KIND, record.getClass().getSimpleName());
        }
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            try {
                json.put(component.getName(), write(component.getAccessor().invoke(record)));
            } catch (IllegalAccessException | InvocationTargetException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
        return json;
    }

    private static boolean isSealedVariant(Class<?> type) {
        return Arrays.stream(type.getInterfaces()).anyMatch(Class::isSealed);
    }

    /** Reads a value; throws a RuntimeException where the JSON does not fit. */
    static <T> T read(Class<T> type, Object json) {
        return type.cast(value(type, json));
    }

    private static Object value(Type type, Object json) {
        if (type instanceof ParameterizedType generic) {
            return generic(generic, json);
        }
        if (!(type instanceof Class<?> plain)) {
            throw new IllegalArgumentException(type + " cannot be recorded");
        }
        if (plain.isRecord()) {
            return recordOf(plain, (JsonObject) json);
        }
        if (plain.isSealed()) {
            var object = (JsonObject) json;
            return recordOf(kind(plain, object.getString(KIND)), object);
        }
        if (plain.isEnum()) {
            return Stream.of(plain.getEnumConstants())
                    .filter(constant -> ((Enum<?>) constant).name().equals(json))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(json + " is no " + plain.getSimpleName()));
        }
        return plainValue(plain, json);
    }

    private static Object plainValue(Class<?> type, Object json) {
        if (json instanceof Number number) {
            if (type == int.class || type == Integer.class) {
                return number.intValue();
            }
            if (type == long.class || type == Long.class) {
                return number.longValue();
            }
            return number.doubleValue();
        }
        return json;
    }

    private static Object generic(ParameterizedType type, Object json) {
        Type[] of = type.getActualTypeArguments();
        if (type.getRawType() == Reading.class) {
            return json instanceof JsonObject object && object.size() == 1 && object.containsKey(UNAVAILABLE)
                    ? new Reading.Unavailable<>(object.getString(UNAVAILABLE))
                    : new Reading.Known<>(value(of[0], json));
        }
        if (type.getRawType() == Map.class) {
            var map = new LinkedHashMap<Object, Object>();
            ((JsonObject) json).forEach(entry -> map.put(value(of[0], entry.getKey()), value(of[1], entry.getValue())));
            return map;
        }
        List<Object> all =
                ((JsonArray) json).stream().map(each -> value(of[0], each)).toList();
        return type.getRawType() == Set.class ? new LinkedHashSet<>(all) : all;
    }

    private static Class<?> kind(Class<?> sealed, String name) {
        return Arrays.stream(sealed.getPermittedSubclasses())
                .filter(type -> type.getSimpleName().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(name + " is no " + sealed.getSimpleName()));
    }

    private static Object recordOf(Class<?> type, JsonObject json) {
        RecordComponent[] components = type.getRecordComponents();
        refuseUnknownKeys(type, components, json);
        Class<?>[] types =
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        Object[] values = Arrays.stream(components)
                .map(component -> json.containsKey(component.getName())
                        ? value(component.getGenericType(), json.getValue(component.getName()))
                        : absent(component.getType()))
                .toArray();
        try {
            return type.getDeclaredConstructor(types).newInstance(values);
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalArgumentException(json.encode() + " is no " + type.getSimpleName(), wrong);
        }
    }

    /** A key that is no component would otherwise be dropped, and its reading would count as not recorded. */
    private static void refuseUnknownKeys(Class<?> type, RecordComponent[] components, JsonObject json) {
        Set<String> known =
                Arrays.stream(components).map(RecordComponent::getName).collect(Collectors.toSet());
        json.fieldNames().stream()
                .filter(key -> !known.contains(key) && !(key.equals(KIND) && isSealedVariant(type)))
                .findFirst()
                .ifPresent(key -> {
                    throw new IllegalArgumentException("unknown key " + key + " in a " + type.getSimpleName());
                });
    }

    private static Object absent(Class<?> type) {
        if (type == Reading.class) {
            return NOT_RECORDED;
        }
        if (type == List.class) {
            return List.of();
        }
        if (type == Map.class) {
            return Map.of();
        }
        if (type == String.class) {
            return "";
        }
        if (type.isRecord()) {
            return recordOf(type, new JsonObject());
        }
        throw new IllegalArgumentException("a " + type.getSimpleName() + " is missing");
    }
}
