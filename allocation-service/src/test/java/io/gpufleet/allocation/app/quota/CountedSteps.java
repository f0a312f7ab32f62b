package io.gpufleet.allocation.app.quota;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.management.ManagementFactory;
import java.net.URL;

/**
 * Branches and calls that the code of this service executes, counted: a class loader that loads its classes anew, with a
 * counter before each of them. What a cost depends on is told by that, and not by a clock. Tests count nothing.
 */
public final class CountedSteps extends ClassLoader {
    private static final String OURS = "io.gpufleet.allocation.";
    private static final ThreadLocal<long[]> STEPS = ThreadLocal.withInitial(() -> new long[1]);

    CountedSteps() {
        super(CountedSteps.class.getClassLoader());
    }

    /** A step of the calling thread; the loaded classes call it. */
    public static void step() {
        STEPS.get()[0]++;
    }

    /** What the calling thread does in an action: steps, and bytes that it allocates, copies of collections included. */
    static Cost of(Runnable action) {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long steps = STEPS.get()[0];
        long bytes = threads.getCurrentThreadAllocatedBytes();
        action.run();
        return new Cost(STEPS.get()[0] - steps, threads.getCurrentThreadAllocatedBytes() - bytes);
    }

    /** Branches and calls in the code of this service, and allocated bytes. */
    record Cost(long steps, long bytes) {}

    /** An instance of a test's own class, which uses the counted classes. */
    <T> T load(Class<? extends T> type, Class<T> as) throws ReflectiveOperationException {
        return as.cast(loadClass(type.getName()).getDeclaredConstructor().newInstance());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS) || name.equals(CountedSteps.class.getName())) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        URL file = getResource(name.replace('.', '/') + ".class");
        if (file == null) {
            throw new ClassNotFoundException(name);
        }
        try (InputStream in = file.openStream()) {
            byte[] read = in.readAllBytes();
            byte[] code = file.getPath().contains("/test-classes/") ? read : counted(read);
            return defineClass(name, code, 0, code.length);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private byte[] counted(byte[] code) {
        var counter = ClassDesc.of(CountedSteps.class.getName());
        var type = MethodTypeDesc.of(ConstantDescs.CD_void);
        ClassFile files =
                ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(this)));
        return files.transformClass(
                files.parse(code), ClassTransform.transformingMethodBodies((instructions, element) -> {
                    if (element instanceof BranchInstruction
                            || element instanceof InvokeInstruction
                            || element instanceof InvokeDynamicInstruction) {
                        instructions.invokestatic(counter, "step", type);
                    }
                    instructions.with(element);
                }));
    }
}
