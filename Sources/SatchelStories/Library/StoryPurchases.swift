import SatchelCore
import SatchelJSON
import SatchelState
import SatchelStorage

extension StoryLibrary {
  /// The part of `ReservedState` with a Boolean for each story that was purchased, or returned.
  private static let purchased = "purchased"

  /// Marks a story as purchased or not purchased. The state keeps it by the library's name and the story's id, whether
  /// or not a file of the story exists.
  ///
  /// It is saved before this returns, except in a batch or transaction, after which it is saved like other state.
  ///
  /// - Throws: `.invalid` for an invalid id, `.readOnly`, `.closed`; `.full`, `.io` and others when neither the store
  ///   nor the outbox file can be written: the change stays in memory, and is tried again
  public func markPurchased(_ id: String, _ isPurchased: Bool = true) throws {
    try checkOpen()
    try Self.checkName(id)
    if try self.isPurchased(id) == isPurchased { return }
    try readerState.set(Self.purchased, of: id, to: .bool(isPurchased))
    try readerState.save()
  }

  /// Whether a story was purchased; nil when the state does not say, and the file does.
  func isPurchased(_ id: String) throws -> Bool? {
    try readerState.value(Self.purchased, of: id)?.value.boolValue
  }

  /// Returns what `isPurchased(_:)` does for each story.
  func purchases() throws -> (_ id: String) -> Bool? {
    let version = try readerState.version()
    let known = latestPurchases.withLock { $0 }
    let values: ReservedState.Values
    if let known, known.version == version {
      values = known.values
    } else {
      values = try readerState.values(Self.purchased)
      latestPurchases.withLock { $0 = version.map { ($0, values) } }
    }
    return values.isEmpty ? { _ in nil } : { values[$0]?.boolValue }
  }

  /// Throws for an id that is not a valid name.
  static func checkName(_ id: String) throws {
    guard StoryID.isName(id) else {
      throw SatchelError(.invalid, "story: “\(id.prefix(60))” is not a valid story id")
        .at(subject: Change.Subject.stories.rawValue)
    }
  }
}
