import SatchelJSON
import SatchelStorage

/// Commits that a session has been notified of, and has not looked at yet.
struct SessionNews {
  /// The number of commits so far.
  private(set) var count = 0
  private var isWaiting = false
  /// Sections whose own content was delivered; nil when any content may have changed.
  private var names: IDList? = IDList()

  /// - Returns: whether these are the first news
  mutating func add(_ change: Change) -> Bool {
    count += 1
    // An entity may be in any section.
    if change.concernsAll || !change.entities.isEmpty { names = nil }
    for name in change.sections { names?.add(name) }
    return isFirst()
  }

  /// - Returns: whether these are the first news
  mutating func addAll() -> Bool {
    names = nil
    return isFirst()
  }

  private mutating func isFirst() -> Bool {
    defer { isWaiting = true }
    return !isWaiting
  }

  mutating func take() -> SessionNews {
    defer { (isWaiting, names) = (false, IDList()) }
    return self
  }

  /// Looks at everything with the next commit, because these could not be looked at.
  mutating func giveUp() { (isWaiting, names) = (false, nil) }

  /// Whether the content of a section is to be read, because it was asked for and may have changed.
  func wants(_ header: SectionHeader, of sections: [SessionSection]) -> Bool {
    guard let section = sections.first(where: { $0.name.hasSameBytes(as: header.section) }) else {
      return false
    }
    let isConcerned = names?.contains(header.section) ?? true
    switch section.state {
    case .placeholder: return false
    case .loaded(let shown): return isConcerned || !shown.header.isShownAs(header)
    case .loading, .failed: return isConcerned || section.header == nil
    }
  }
}
