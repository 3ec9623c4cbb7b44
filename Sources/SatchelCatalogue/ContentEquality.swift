import SatchelJSON

/// Compares content with placeholders as JSON values: the order of members and the encodings of strings and
/// numbers are ignored.
enum ContentEquality {
  /// Returns whether both are the same, with the same targets in the same positions. Invalid JSON, of a damaged
  /// file, is equal to nothing.
  static func equal<Target: Equatable>(
    _ one: UnsafeRawBufferPointer, placeholders: [Template<Target>.Placeholder],
    _ other: UnsafeRawBufferPointer, otherPlaceholders: [Template<Target>.Placeholder]
  ) -> Bool {
    guard placeholders.count == otherPlaceholders.count, let tape = try? JSONTape(one),
      let otherTape = try? JSONTape(other)
    else { return false }
    guard !placeholders.isEmpty else { return JSONTape.equal(tape, otherTape) }
    let (targets, otherTargets) = (targets(placeholders), targets(otherPlaceholders))
    return JSONTape.equal(tape, otherTape) { offset, otherOffset in
      switch (targets[offset], otherTargets[otherOffset]) {
      case (nil, nil): nil
      case (let target, let otherTarget): target == otherTarget
      }
    }
  }

  private static func targets<Target>(_ placeholders: [Template<Target>.Placeholder]) -> [Int: Target] {
    Dictionary(placeholders.map { ($0.offset, $0.target) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns whether two JSON texts have the same value; nil is equal to nil only.
  static func equal(_ one: String?, _ other: String?) -> Bool {
    guard var one, var other else { return one == nil && other == nil }
    if one.hasSameBytes(as: other) { return true }
    return one.withUTF8 { one in
      other.withUTF8 { other in
        equal(
          UnsafeRawBufferPointer(one), placeholders: [Template<Int>.Placeholder](),
          UnsafeRawBufferPointer(other), otherPlaceholders: [])
      }
    }
  }
}

extension Template where Target == SectionTarget {
  /// Returns whether another template has the same value, with the same entities.
  func isEqual(to other: Template) -> Bool {
    func split(_ template: Template) -> (direct: [Placeholder], nested: [Int64: Int]) {
      var nested: [Int64: Int] = [:]
      for placeholder in template.placeholders where placeholder.offset == PlaceholderCoding.nested {
        nested[placeholder.target.entity] = placeholder.target.scope.rawValue
      }
      return (template.placeholders.filter { $0.offset != PlaceholderCoding.nested }, nested)
    }
    let (mine, others) = (split(self), split(other))
    guard mine.nested == others.nested else { return false }
    return bytes.withUnsafeBytes { bytes in
      other.bytes.withUnsafeBytes {
        ContentEquality.equal(
          bytes, placeholders: mine.direct, $0, otherPlaceholders: others.direct)
      }
    }
  }
}
