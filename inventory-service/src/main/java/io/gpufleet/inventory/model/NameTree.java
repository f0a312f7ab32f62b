package io.gpufleet.inventory.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * An immutable sorted map from names. An update copies only the path to the name, so that an image of 100,000 nodes
 * changes in about a microsecond while readers keep the old one. A treap whose priorities are hashes of the names: its
 * shape depends on the content alone.
 *
 * @param <V> what stands under a name
 */
public final class NameTree<V> {
    private static final NameTree<?> EMPTY = new NameTree<>(null);

    private record Branch<V>(
            String name,
            V value,
            int priority,
            int size,
            @Nullable Branch<V> left,
            @Nullable Branch<V> right) {
        static <V> Branch<V> of(String name, V value, @Nullable Branch<V> left, @Nullable Branch<V> right) {
            return new Branch<>(name, value, spread(name.hashCode()), 1 + count(left) + count(right), left, right);
        }

        static int count(@Nullable Branch<?> branch) {
            return branch == null ? 0 : branch.size;
        }

        /** Names that differ in their last digit only have neighbouring hash codes; a treap wants them apart. */
        private static int spread(int hash) {
            int mixed = hash * 0x9E3779B9;
            mixed ^= mixed >>> 15;
            mixed *= 0x85EBCA6B;
            return mixed ^ (mixed >>> 13);
        }
    }

    private final @Nullable Branch<V> root;

    private NameTree(@Nullable Branch<V> root) {
        this.root = root;
    }

    /** No names. */
    @SuppressWarnings("unchecked")
    public static <V> NameTree<V> empty() {
        return (NameTree<V>) EMPTY;
    }

    /** Number of names. */
    public int size() {
        return Branch.count(root);
    }

    /** What stands under a name. */
    public Optional<V> get(String name) {
        Branch<V> at = root;
        while (at != null) {
            int order = name.compareTo(at.name);
            if (order == 0) {
                return Optional.of(at.value);
            }
            at = order < 0 ? at.left : at.right;
        }
        return Optional.empty();
    }

    /** The map with a value under a name. */
    public NameTree<V> with(String name, V value) {
        return new NameTree<>(put(root, name, value));
    }

    /** The map without a name. */
    public NameTree<V> without(String name) {
        return get(name).isEmpty() ? this : new NameTree<>(remove(root, name));
    }

    /** All values, in the order of their names. */
    public List<V> values() {
        var all = new ArrayList<V>(size());
        walk(root, "", (_, value) -> all.add(value));
        return all;
    }

    /** Walks the names after the given one, in order, until the visitor says false; an empty name is before all. */
    public void after(String name, BiPredicate<String, V> visitor) {
        walk(root, name, visitor);
    }

    private static <V> boolean walk(@Nullable Branch<V> at, String after, BiPredicate<String, V> visitor) {
        if (at == null) {
            return true;
        }
        if (at.name.compareTo(after) <= 0) {
            return walk(at.right, after, visitor);
        }
        return walk(at.left, after, visitor) && visitor.test(at.name, at.value) && walk(at.right, after, visitor);
    }

    private static <V> Branch<V> put(@Nullable Branch<V> at, String name, V value) {
        if (at == null) {
            return Branch.of(name, value, null, null);
        }
        int order = name.compareTo(at.name);
        if (order == 0) {
            return Branch.of(name, value, at.left, at.right);
        }
        if (order < 0) {
            Branch<V> left = put(at.left, name, value);
            return above(left, at)
                    ? Branch.of(left.name, left.value, left.left, Branch.of(at.name, at.value, left.right, at.right))
                    : Branch.of(at.name, at.value, left, at.right);
        }
        Branch<V> right = put(at.right, name, value);
        return above(right, at)
                ? Branch.of(right.name, right.value, Branch.of(at.name, at.value, at.left, right.left), right.right)
                : Branch.of(at.name, at.value, at.left, right);
    }

    private static <V> @Nullable Branch<V> remove(@Nullable Branch<V> at, String name) {
        if (at == null) {
            return null;
        }
        int order = name.compareTo(at.name);
        if (order == 0) {
            return merge(at.left, at.right);
        }
        return order < 0
                ? Branch.of(at.name, at.value, remove(at.left, name), at.right)
                : Branch.of(at.name, at.value, at.left, remove(at.right, name));
    }

    private static <V> @Nullable Branch<V> merge(@Nullable Branch<V> left, @Nullable Branch<V> right) {
        if (left == null || right == null) {
            return left == null ? right : left;
        }
        return above(left, right)
                ? Branch.of(left.name, left.value, left.left, merge(left.right, right))
                : Branch.of(right.name, right.value, merge(left, right.left), right.right);
    }

    /** Whether a branch belongs above another: by priority, ties by name, so that the shape is settled. */
    private static boolean above(Branch<?> one, Branch<?> other) {
        return one.priority != other.priority ? one.priority > other.priority : one.name.compareTo(other.name) < 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof NameTree<?> tree && java.util.Objects.equals(root, tree.root);
    }

    @Override
    public int hashCode() {
        return java.util.Objects.hashCode(root);
    }

    @Override
    public String toString() {
        var names = new ArrayList<String>(size());
        walk(root, "", (name, value) -> names.add(name + "=" + value));
        return names.toString();
    }
}
