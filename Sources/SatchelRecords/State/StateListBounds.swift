/// The bounds of a list.
struct StateListBounds: Equatable, Sendable {
  /// The most items; nil for any number.
  var limit: Int?
  /// The greatest age of an item, in milliseconds; nil for any.
  var maximumAge: Int64?
  /// Whether an item that is there already moves to the front.
  var isUnique = false

  /// Whether an item of that time is within the age at another time.
  func admits(_ time: Int64, at now: Int64) -> Bool {
    guard let maximumAge else { return true }
    return now - time <= maximumAge
  }
}
