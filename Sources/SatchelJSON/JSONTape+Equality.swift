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
    let pair = JSONTapePair(left: left, right: right)
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
        guard pair.appendMembers(one, other, to: &pending) else { return false }
      default:
        if let decided = decide?(Int(token.start), Int(otherToken.start)) {
          guard decided else { return false }
        } else if !pair.equalScalars(one, other) {
          return false
        }
      }
    }
    return true
  }

  fileprivate func memberCount(of object: Int) -> Int {
    var (count, value) = (0, object + 2)
    while value < Int(tokens[object].next) {
      count += 1
      value = Int(tokens[value].next) + 1
    }
    return count
  }

  /// The values of an object's members by their keys.
  fileprivate func members(of object: Int) -> [[UInt8]: Int] {
    var found: [[UInt8]: Int] = [:]
    for value in children(of: object) { found[Array(text(value - 1).utf8)] = value }
    return found
  }

  func slice(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[Int(tokens[index].start)..<Int(tokens[index].end)])
  }
}

/// Two texts whose values are compared, by the indices of their tokens.
private struct JSONTapePair {
  let left: JSONTape
  let right: JSONTape

  /// The number of members from which a table finds those that are in another order.
  private static let manyMembers = 16

  /// Appends the pairs of values with the same key; returns false when the keys differ.
  @_optimize(speed)
  func appendMembers(_ one: Int, _ other: Int, to pending: inout [(Int, Int)]) -> Bool {
    let count = left.memberCount(of: one)
    guard count == right.memberCount(of: other) else { return false }
    let (first, end) = (other + 2, Int(right[other].next))
    var table: [[UInt8]: Int]?
    var value = one + 2
    // The member that follows the last match: usually the next one is there.
    var expected = first
    for _ in 0..<count {
      var found: Int?
      if expected < end, equalStrings(value - 1, expected - 1) {
        found = expected
      } else if count < Self.manyMembers {
        var candidate = first
        while candidate < end, found == nil {
          if equalStrings(value - 1, candidate - 1) { found = candidate }
          candidate = Int(right[candidate].next) + 1
        }
      } else {
        let keys = table ?? right.members(of: other)
        table = keys
        found = keys[Array(left.text(value - 1).utf8)]
      }
      guard let found else { return false }
      pending.append((value, found))
      expected = Int(right[found].next) + 1
      value = Int(left[value].next) + 1
    }
    // No text has two members with one key, so all of the other's were found.
    return true
  }

  func equalScalars(_ one: Int, _ other: Int) -> Bool {
    let (token, otherToken) = (left[one], right[other])
    switch (token.kind, otherToken.kind) {
    case (.string, .string): return equalStrings(one, other)
    case (.integer, .integer), (.double, .double), (.bigNumber, .bigNumber):
      if left.slice(one).hasSameBytes(as: right.slice(other)) { return true }
      guard let value = try? left.value(one), let otherValue = try? right.value(other) else { return false }
      return value == otherValue
    default:
      return token.kind == otherToken.kind && left.slice(one).hasSameBytes(as: right.slice(other))
    }
  }

  @inline(__always)
  private func equalStrings(_ one: Int, _ other: Int) -> Bool {
    let (token, otherToken) = (left[one], right[other])
    if token.end - token.start == otherToken.end - otherToken.start,
      left.slice(one).hasSameBytes(as: right.slice(other))
    {
      return true
    }
    return (token.isEscaped || otherToken.isEscaped) && left.text(one).hasSameBytes(as: right.text(other))
  }
}
