/// Which passages there are: asked only for targets that look like something else than a name, and for the special
/// passages. Built when first asked.
final class TweeNames {
  private let passages: ContiguousArray<TweePassage>
  private let text: StoryText
  private lazy var all = table { _ in true }
  private lazy var special = table { $0.kind != .segment }
  private let hasSpecial: Bool

  init(_ passages: ContiguousArray<TweePassage>, _ text: StoryText) {
    self.passages = passages
    self.text = text
    hasSpecial = passages.contains { $0.kind != .segment }
  }

  private func table(_ condition: (TweePassage) -> Bool) -> StoryIDTable {
    var table = StoryIDTable(capacity: passages.count)
    for (index, passage) in passages.enumerated() where condition(passage) {
      _ = table.insert(index, text.bytes(passage.name))
    }
    return table
  }

  func contains(_ name: UnsafeRawBufferPointer) -> Bool {
    all.find(name) != nil
  }

  /// Whether a name is that of a passage that is no segment.
  func isSpecial(_ name: UnsafeRawBufferPointer) -> Bool {
    hasSpecial && special.find(name) != nil
  }
}
