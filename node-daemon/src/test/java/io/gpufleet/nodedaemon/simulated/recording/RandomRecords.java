package io.gpufleet.nodedaemon.simulated.recording;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Random values of records of the model, whatever components they have. */
final class RandomRecords {
    private static final List<String> STRINGS =
            List.of("", "GPU-1", "ä \"quoted\" \\ \n", "NOT_SUPPORTED", "00000000:07:00.0", "{}", "unavailable");
    private static final List<FaultKind> KINDS_WITHOUT_CODE =
            Arrays.stream(FaultKind.values()).filter(FaultKind::withoutCode).toList();

    private final Random random;

    RandomRecords(long seed) {
        this.random = new Random(seed);
    }

    <T> T of(Class<T> type) {
        return type.cast(value(type));
    }

    private Object value(Type type) {
        if (type instanceof ParameterizedType generic) {
            return generic(generic);
        }
        Class<?> plain = (Class<?>) type;
        if (plain == FaultCode.WithoutCode.class) {
            return new FaultCode.WithoutCode(pick(KINDS_WITHOUT_CODE));
        }
        if (plain.isRecord()) {
            return record(plain);
        }
        if (plain.isSealed()) {
            return value(pick(Arrays.asList(plain.getPermittedSubclasses())));
        }
        if (plain.isEnum()) {
            return pick(Arrays.asList(plain.getEnumConstants()));
        }
        return switch (plain.getSimpleName()) {
            case "String" -> pick(STRINGS);
            case "int", "Integer" -> random.nextInt();
            case "long", "Long" -> random.nextLong();
            case "double", "Double" ->
                random.nextInt(3) == 0 ? (double) random.nextInt() : random.nextGaussian() * 1e12;
            case "boolean", "Boolean" -> random.nextBoolean();
            default -> throw new AssertionError("no value by chance of " + type);
        };
    }

    private Object generic(ParameterizedType type) {
        Type[] of = type.getActualTypeArguments();
        if (type.getRawType() == Reading.class) {
            return random.nextInt(3) == 0
                    ? new Reading.Unavailable<>(pick(STRINGS))
                    : new Reading.Known<>(value(of[0]));
        }
        if (type.getRawType() == Map.class) {
            Map<Object, Object> map = new LinkedHashMap<>();
            for (int i = random.nextInt(4); i > 0; i--) {
                map.put(value(of[0]), value(of[1]));
            }
            return map;
        }
        List<Object> list = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            list.add(value(of[0]));
        }
        return list;
    }

    private Object record(Class<?> type) {
        RecordComponent[] components = type.getRecordComponents();
        Class<?>[] types =
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        Object[] values = Arrays.stream(components)
                .map(component -> value(component.getGenericType()))
                .toArray();
        try {
            return type.getDeclaredConstructor(types).newInstance(values);
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }
}
