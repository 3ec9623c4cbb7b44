#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension JSONTape {
  /// Returns whether two texts have the same value, as `JSONValue` compares them: the order of members, white
  /// space, and the encodings of strings and numbers do not count.
  ///
  /// Creates no values: comparing takes little longer than scanning.
  ///
  /// - Parameter decide: decides about two scalars by their offsets in the texts; nil compares them
  package static func equal(
    _ left: JSONTape, _ right: JSONTape, decide: ((_ left: Int, _ right: Int) -> Bool?)? = nil
  ) -> Bool {
    var pending: [(Int, Int)] = [(left.root, right.root)]
    while let (one, other) = pending.popLast() {
      let (token, otherToken) = (left[one], right[other])
      switch (token.kind, otherToken.kind) {
      case (.array, .array):
        var (elements, others) = (left.children(of: one), right.children(of: other))
        while let element = elements.next() {
          guard let otherElement = others.next() else { return false }
          pending.append((element, otherElement))
        }
        guard others.next() == nil else { return false }
      case (.object, .object):
        guard appendMembers(left, one, right, other, to: &pending) else { return false }
      default:
        if let decided = decide?(Int(token.start), Int(otherToken.start)) {
          guard decided else { return false }
        } else if !equalScalars(left, one, right, other) {
          return false
        }
      }
    }
    return true
  }

  /// The number of members from which a table finds those that are in another order.
  private static let manyMembers = 16

  /// Appends the pairs of values with the same key; returns false when the keys differ.
  private static func appendMembers(
    _ left: JSONTape, _ one: Int, _ right: JSONTape, _ other: Int, to pending: inout [(Int, Int)]
  ) -> Bool {
    let (count, otherCount) = (left.children(of: one).count, right.children(of: other).count)
    guard count == otherCount else { return false }
    var table: [[UInt8]: Int]?
    // The member that follows the last match: usually the next one is there.
    var others = right.children(of: other)
    for value in left.children(of: one) {
      var ahead = others
      if let candidate = ahead.next(), equalStrings(left, value - 1, right, candidate - 1) {
        others = ahead
        pending.append((value, candidate))
        continue
      }
      if count < manyMembers {
        guard
          let found = right.children(of: other).first(where: { equalStrings(left, value - 1, right, $0 - 1) })
        else { return false }
        pending.append((value, found))
        continue
      }
      if table == nil {
        var keys: [[UInt8]: Int] = [:]
        for value in right.children(of: other) { keys[Array(right.text(value - 1).utf8)] = value }
        table = keys
      }
      guard let found = table?[Array(left.text(value - 1).utf8)] else { return false }
      pending.append((value, found))
    }
    // No text has two members with one key, so all of the other's were found.
    return true
  }

  private static func equalScalars(_ left: JSONTape, _ one: Int, _ right: JSONTape, _ other: Int) -> Bool {
    let (token, otherToken) = (left[one], right[other])
    switch (token.kind, otherToken.kind) {
    case (.string, .string): return equalStrings(left, one, right, other)
    case (.integer, .integer), (.double, .double):
      if left.slice(one).hasSameBytes(as: right.slice(other)) { return true }
      guard let value = try? left.value(one), let otherValue = try? right.value(other) else { return false }
      return value == otherValue
    default:
      return token.kind == otherToken.kind && left.slice(one).hasSameBytes(as: right.slice(other))
    }
  }

  private static func equalStrings(_ left: JSONTape, _ one: Int, _ right: JSONTape, _ other: Int) -> Bool {
    guard left[one].isEscaped || right[other].isEscaped else {
      return left.slice(one).hasSameBytes(as: right.slice(other))
    }
    return left.text(one).hasSameBytes(as: right.text(other))
  }

  func slice(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[Int(tokens[index].start)..<Int(tokens[index].end)])
  }
}

extension JSONTape.Children {
  /// The number of the remaining children.
  fileprivate var count: Int { reduce(0) { count, _ in count + 1 } }
}

extension UnsafeRawBufferPointer {
  package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count > 0, let one = baseAddress, let two = other.baseAddress else { return true }
    return memcmp(one, two, count) == 0
  }
}
