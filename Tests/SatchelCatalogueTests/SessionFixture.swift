import Foundation
import Satchel
import Synchronization
import Testing

/// Records the events of a session in order, and whether two events ever overlapped.
final class EventRecorder: Sendable {
  private let events = Mutex<[SessionEvent]>([])
  private let inside = Atomic(0)
  let overlaps = Atomic(0)
  let delay: UInt32

  init(delay: UInt32 = 0) { self.delay = delay }

  func record(_ event: SessionEvent) {
    if inside.add(1, ordering: .sequentiallyConsistent).oldValue > 0 { overlaps.add(1, ordering: .relaxed) }
    if delay > 0 { usleep(delay) }
    events.withLock { $0.append(event) }
    inside.subtract(1, ordering: .sequentiallyConsistent)
  }

  var recorded: [SessionEvent] { events.withLock { $0 } }
  var brief: [String] {
    recorded.map { event in
      switch event {
      case .sections: "sections"
      case .section(let name, let state): "\(name) \(state)"
      case .refresh(let cached, let plan): "refresh \(cached?.rawValue ?? "nothing") \(plan.map(\.section))"
      }
    }
  }

  /// Waits for an event, for at most two minutes.
  func wait(for event: String) throws {
    for _ in 0..<120_000 {
      if brief.contains(event) { return }
      usleep(1000)
    }
    Issue.record("\(event) never came: \(brief)")
  }
}

/// What the tests of sessions share.
enum SessionFixture {
  /// Content with one entity of the country.
  static func content(_ value: String, _ id: String = "s:1") -> String {
    #"{"x":{"v":"\#(value)",\#(tag(id, "country", hours: "1"))}}"#
  }

  /// The state as the C interface returns it.
  static func json(_ session: Session) throws -> JSONValue { try JSONValue(parsing: session.text()) }

  static func states(_ session: Session) -> [String] {
    session.state.sections.map { "\($0.name) \($0.state.name)" }
  }

  static func handle(_ session: Session, _ name: String, _ content: String) throws -> Receipt {
    try Array(CatalogueFixture.section(name, content).utf8).withUnsafeBytes { try session.handle($0) }
  }

  /// Waits for a condition, for at most two minutes.
  static func wait(_ condition: () -> Bool) {
    for _ in 0..<120_000 where !condition() { usleep(1000) }
    #expect(condition())
  }
}
