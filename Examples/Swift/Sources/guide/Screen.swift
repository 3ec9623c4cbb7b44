import Foundation
import Satchel

/// The screen of a place: draws what its session has, when the session says that it has changed.
@MainActor
final class Screen {
  private let tabs = ["sights", "places", "here"]
  let session: Session
  private let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private var drawn: [String: String] = [:]

  /// Shows what is stored of a place at once, and what the backend has when it comes.
  init(of place: Location, in guide: Guide) async throws {
    session = Session(guide.store.catalogue, source: guide.backend) { [change] event in
      if case .refresh(_, let plan) = event { print("  stored sections: \(plan.count)") }
      change.yield()
    }
    try session.show(place)
    for tab in tabs { try session.load(tab) }
    await drawChanges()
  }

  /// Asks the backend for what has changed. What is on the screen stays meanwhile.
  func pullDown() async throws {
    try session.refresh()
    await drawChanges()
  }

  /// Draws until every tab has something, and the backend has answered.
  private func drawChanges() async {
    for await _ in changes {
      let (isRefreshing, error) = session.refreshing  // first: the sections have its answer then
      for section in session.state.sections { draw(section) }
      if isRefreshing || drawn.count < tabs.count { continue }
      if let error { print("  \(error)") }
      return
    }
  }

  /// Draws a tab that has become different; it is empty until there is content, or none can be had.
  private func draw(_ section: SessionSection) {
    var text = section.state.name
    if let loaded = section.loaded {
      let age = (Guide.today.load(ordering: .relaxed) - loaded.header.fetchedAt) / Guide.hour
      text = "\(loaded.header.displayTitle ?? "") (\(loaded.header.entityCount))"
      if section.error != nil { text += ", \(age) hours old, \(loaded.expired.count) expired" }
    } else if text != "failed", drawn[section.name] == nil {
      return
    }
    if drawn.updateValue(text, forKey: section.name) == text { return }
    print("  \(section.name.padding(toLength: 7, withPad: " ", startingAt: 0)) \(text)")
  }
}
