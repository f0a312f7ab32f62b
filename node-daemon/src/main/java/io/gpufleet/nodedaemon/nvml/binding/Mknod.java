package io.gpufleet.nodedaemon.nvml.binding;

import jnr.ffi.Runtime;

/** Makes device nodes by mknod(2), which Java does not offer. */
public final class Mknod {
    private static final int CHARACTER_DEVICE = 0x2000;
    private static final int EPERM = 1;
    private static final int EEXIST = 17;
    private static final int EROFS = 30;

    private Mknod() {}

    /** Makes a node; returns why that failed, empty when it is there. */
    public static String make(String path, int permissions, int major, int minor) {
        try {
            LibC libc = CLibrary.functions();
            if (libc.mknod(path, CHARACTER_DEVICE | permissions, number(major, minor)) == 0) {
                return "";
            }
            return switch (Runtime.getRuntime(libc).getLastError()) {
                case EEXIST -> "";
                case EPERM -> "mknod " + path + ": the daemon needs CAP_MKNOD";
                case EROFS -> "mknod " + path + ": the file system is mounted read-only";
                default -> "mknod " + path + " fails";
            };
        } catch (LinkageError e) {
            return "mknod: the C library does not export it";
        }
    }

    /** A device number as glibc's makedev composes it. */
    static long number(int major, int minor) {
        return (major & 0xfffL) << 8 | (major & 0xfffff000L) << 32 | minor & 0xffL | (minor & 0xffffff00L) << 12;
    }
}
