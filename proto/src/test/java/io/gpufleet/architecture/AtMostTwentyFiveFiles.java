package io.gpufleet.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Refuses packages with more than twenty-five source files, {@code package-info.java} left out. */
final class AtMostTwentyFiveFiles extends ArchCondition<JavaClass> {
    private static final int LIMIT = 25;

    private final Map<String, TreeSet<String>> filesByPackage = new TreeMap<>();

    AtMostTwentyFiveFiles() {
        super("be in packages of at most " + LIMIT + " files");
    }

    @Override
    public void init(Collection<JavaClass> types) {
        filesByPackage.clear();
        for (JavaClass type : types) {
            if (type.isTopLevelClass() && !type.getSimpleName().equals("package-info")) {
                filesByPackage
                        .computeIfAbsent(type.getPackageName(), _ -> new TreeSet<>())
                        .add(type.getName());
            }
        }
    }

    /** Reports a package once, at the first of its types. */
    @Override
    public void check(JavaClass type, ConditionEvents events) {
        TreeSet<String> files = filesByPackage.getOrDefault(type.getPackageName(), new TreeSet<>());
        if (files.size() > LIMIT && files.first().equals(type.getName())) {
            events.add(SimpleConditionEvent.violated(
                    type,
                    "package " + type.getPackageName() + " has " + files.size()
                            + " files: move those with a common subject into a package of that name"));
        }
    }
}
