package io.gpufleet.inventory.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * An immutable map sorted by name. An update copies only the path to the name, so that a map of 100,000 nodes changes in
 * about a microsecond while readers keep the old one. It is a treap whose priorities are hashes of the names: its shape
 * depends on the content alone.
 *
 * @param <V> type of the values
 */
public final class ImmutableTreeMap<V> {
    private static final ImmutableTreeMap<?> EMPTY = new ImmutableTreeMap<>(null);

    private record TreapNode<V>(
            String name,
            V value,
            int priority,
            int size,
            @Nullable TreapNode<V> left,
            @Nullable TreapNode<V> right) {
        static <V> TreapNode<V> of(String name, V value, @Nullable TreapNode<V> left, @Nullable TreapNode<V> right) {
            return new TreapNode<>(name, value, spread(name.hashCode()), 1 + count(left) + count(right), left, right);
        }

        static int count(@Nullable TreapNode<?> branch) {
            return branch == null ? 0 : branch.size;
        }

        /** Mixes the bits: names that differ only in the last digit have adjacent hash codes, which would unbalance the treap. */
        private static int spread(int hash) {
            int mixed = hash * 0x9E3779B9;
            mixed ^= mixed >>> 15;
            mixed *= 0x85EBCA6B;
            return mixed ^ (mixed >>> 13);
        }
    }

    private final @Nullable TreapNode<V> root;

    private ImmutableTreeMap(@Nullable TreapNode<V> root) {
        this.root = root;
    }

    /** The empty map. */
    @SuppressWarnings("unchecked")
    public static <V> ImmutableTreeMap<V> empty() {
        return (ImmutableTreeMap<V>) EMPTY;
    }

    /**
     * A map of many names at once, in a fraction of the time that adding them one by one takes.
     *
     * @param names sorted, none twice
     * @param values as many
     */
    public static <V> ImmutableTreeMap<V> ofSorted(List<String> names, List<V> values) {
        int[] priorities = new int[names.size()];
        for (int i = 0; i < priorities.length; i++) {
            priorities[i] = TreapNode.spread(names.get(i).hashCode());
        }
        return new ImmutableTreeMap<>(build(names, values, priorities, 0, priorities.length));
    }

    private static <V> @Nullable TreapNode<V> build(
            List<String> names, List<V> values, int[] priorities, int from, int to) {
        if (from == to) {
            return null;
        }
        int top = from;
        for (int i = from + 1; i < to; i++) {
            // Of equal priorities the first name belongs above, as everywhere.
            if (priorities[i] > priorities[top]) {
                top = i;
            }
        }
        return TreapNode.of(
                names.get(top),
                values.get(top),
                build(names, values, priorities, from, top),
                build(names, values, priorities, top + 1, to));
    }

    /** Number of names. */
    public int size() {
        return TreapNode.count(root);
    }

    /** The value of a name. */
    public Optional<V> get(String name) {
        TreapNode<V> at = root;
        while (at != null) {
            int order = name.compareTo(at.name);
            if (order == 0) {
                return Optional.of(at.value);
            }
            at = order < 0 ? at.left : at.right;
        }
        return Optional.empty();
    }

    /** The map with a value for a name. */
    public ImmutableTreeMap<V> with(String name, V value) {
        return new ImmutableTreeMap<>(put(root, name, value));
    }

    /** The map without a name. */
    public ImmutableTreeMap<V> without(String name) {
        return get(name).isEmpty() ? this : new ImmutableTreeMap<>(remove(root, name));
    }

    /** All values, in the order of their names. */
    public List<V> values() {
        var all = new ArrayList<V>(size());
        walk(root, "", (_, value) -> all.add(value));
        return all;
    }

    /** Visits the names after the given one, in order, until the visitor returns false; the empty name precedes all. */
    public void forEachAfter(String name, BiPredicate<String, V> visitor) {
        walk(root, name, visitor);
    }

    private static <V> boolean walk(@Nullable TreapNode<V> at, String after, BiPredicate<String, V> visitor) {
        if (at == null) {
            return true;
        }
        if (at.name.compareTo(after) <= 0) {
            return walk(at.right, after, visitor);
        }
        return walk(at.left, after, visitor) && visitor.test(at.name, at.value) && walk(at.right, after, visitor);
    }

    private static <V> TreapNode<V> put(@Nullable TreapNode<V> at, String name, V value) {
        if (at == null) {
            return TreapNode.of(name, value, null, null);
        }
        int order = name.compareTo(at.name);
        if (order == 0) {
            return TreapNode.of(name, value, at.left, at.right);
        }
        if (order < 0) {
            TreapNode<V> left = put(at.left, name, value);
            return hasPriorityOver(left, at)
                    ? TreapNode.of(
                            left.name, left.value, left.left, TreapNode.of(at.name, at.value, left.right, at.right))
                    : TreapNode.of(at.name, at.value, left, at.right);
        }
        TreapNode<V> right = put(at.right, name, value);
        return hasPriorityOver(right, at)
                ? TreapNode.of(
                        right.name, right.value, TreapNode.of(at.name, at.value, at.left, right.left), right.right)
                : TreapNode.of(at.name, at.value, at.left, right);
    }

    private static <V> @Nullable TreapNode<V> remove(@Nullable TreapNode<V> at, String name) {
        if (at == null) {
            return null;
        }
        int order = name.compareTo(at.name);
        if (order == 0) {
            return merge(at.left, at.right);
        }
        return order < 0
                ? TreapNode.of(at.name, at.value, remove(at.left, name), at.right)
                : TreapNode.of(at.name, at.value, at.left, remove(at.right, name));
    }

    private static <V> @Nullable TreapNode<V> merge(@Nullable TreapNode<V> left, @Nullable TreapNode<V> right) {
        if (left == null || right == null) {
            return left == null ? right : left;
        }
        return hasPriorityOver(left, right)
                ? TreapNode.of(left.name, left.value, left.left, merge(left.right, right))
                : TreapNode.of(right.name, right.value, merge(left, right.left), right.right);
    }

    /** Whether a node belongs above another: by priority, ties by name, so that the shape is unique. */
    private static boolean hasPriorityOver(TreapNode<?> one, TreapNode<?> other) {
        return one.priority != other.priority ? one.priority > other.priority : one.name.compareTo(other.name) < 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ImmutableTreeMap<?> map && Objects.equals(root, map.root);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(root);
    }

    @Override
    public String toString() {
        var names = new ArrayList<String>(size());
        walk(root, "", (name, value) -> names.add(name + "=" + value));
        return names.toString();
    }
}
