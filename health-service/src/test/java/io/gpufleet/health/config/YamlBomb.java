package io.gpufleet.health.config;

/** A short document whose aliases stand for some 10^12 values. */
final class YamlBomb {
    static final String TEXT = text();

    private YamlBomb() {}

    private static String text() {
        var bomb = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for (int i = 1; i < 12; i++) {
            bomb.append("a").append(i).append(": &a").append(i).append(" [");
            bomb.append(("*a" + (i - 1) + ", ").repeat(9)).append("x]\n");
        }
        return bomb.toString();
    }
}
