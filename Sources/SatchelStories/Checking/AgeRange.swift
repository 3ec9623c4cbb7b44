/// Whom a story is for, in years: "5-8", or "12+".
public struct AgeRange: Equatable, Sendable {
  public var lowest: Int
  /// Nil for no upper end.
  public var highest: Int?

  /// Nil when the text is of neither form, the ages are above 120, or the wrong way round.
  public init?(_ text: String) {
    // Bytes, not characters: a sign may be joined to what stands before it.
    let bytes = text.utf8
    if bytes.last == UInt8(ascii: "+") {
      guard let age = Self.age(bytes.dropLast()) else { return nil }
      (lowest, highest) = (age, nil)
      return
    }
    let ends = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard ends.count == 2, let low = Self.age(ends[0]), let high = Self.age(ends[1]), low <= high else {
      return nil
    }
    (lowest, highest) = (low, high)
  }

  private static func age(_ digits: Substring.UTF8View) -> Int? {
    guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let age = Int(Substring(digits)), age <= 120
    else { return nil }
    return age
  }
}
