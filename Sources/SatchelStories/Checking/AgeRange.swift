/// Whom a story is for, in years: "5-8", or "12+".
public struct AgeRange: Equatable, Sendable {
  public var lowest: Int
  /// Nil for no upper end.
  public var highest: Int?

  /// Nil when the text is of neither form, the ages are above 120, or the wrong way round.
  public init?(_ text: String) {
    if text.utf8.last == UInt8(ascii: "+") {
      guard let age = Self.age(text.dropLast()) else { return nil }
      (lowest, highest) = (age, nil)
      return
    }
    let ends = text.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let low = Self.age(ends[0]), let high = Self.age(ends[1]), low <= high else {
      return nil
    }
    (lowest, highest) = (low, high)
  }

  private static func age(_ digits: Substring) -> Int? {
    guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let age = Int(digits), age <= 120
    else { return nil }
    return age
  }
}
