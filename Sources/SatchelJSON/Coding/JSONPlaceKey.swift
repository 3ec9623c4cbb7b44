/// A key that no type declares: of an array's element, or of a superclass.
struct JSONPlaceKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  /// Where a class keeps what its superclass encodes, by Swift's convention.
  static let superclass = JSONPlaceKey(stringValue: "super")

  init(index: Int) {
    stringValue = String(index)
    intValue = index
  }

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) { self.init(index: intValue) }
}
