import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelTesting
import Testing

import SatchelState

@Suite("State after a process was killed", .serialized)
struct StateProcessTests {
  let fixture: StateFixture
  init() throws { fixture = try StateFixture() }

  /// The number of the last round that was reported as durable to a process.
  private func told() -> Int64 {
    let text = try? String(contentsOfFile: fixture.path + ".told", encoding: .utf8)
    return text?.split(separator: "\n").last.flatMap { Int64($0) } ?? 0
  }

  private static func store(_ path: String, _ options: StateOptions) throws -> StateFixture.Opened {
    try StateFixture().open(path, options) { $0.busyTimeout = 20 }
  }

  private static func round(_ store: StateFixture.Opened) throws -> Int64 {
    let number = (try store.state.get("n")?.intValue ?? 0) + 1
    try store.state.set("n", .int(number))
    try store.state.set("word", .string("round \(number)"), sensitive: true)
    try store.state.scores("s", bounds: 0...1e9).add("k", 1)
    try store.state.list("l", limit: 5).push(.int(number))
    try store.state.set(named: "m").add(.int(number % 7))
    return number
  }

  @Test("other process: flushes each round, and records that it is durable")
  func flusher() throws {
    guard let path = OtherProcess.role("flusher")?.path else {
      let store = try Self.store(fixture.path, StateFixture.never)
      try store.state.setKey(StateFixture.key)
      #expect(try Self.round(store) == 1)
      return
    }
    let store = try Self.store(path, StateFixture.never)
    try store.state.setKey(StateFixture.key)
    let told = try #require(fopen(path + ".told", "a"))
    while true {
      let number = try Self.round(store)
      try store.state.flush()
      fputs("\(number)\n", told)
      fflush(told)
    }
  }

  @Test("other process: saves only by time")
  func saver() throws {
    guard let path = OtherProcess.role("saver")?.path else {
      let store = try Self.store(fixture.path, StateFixture.quickly)
      try store.state.set("first", 1)
      #expect(try store.state.get("first") == 1)
      return
    }
    let store = try Self.store(path, StateOptions(saveDelay: 1, maxPending: 3, maxDelay: 5))
    var number: Int64 = 0
    while true {
      number += 1
      try store.state.set("first", .int(number))
      try store.state.scores("s", bounds: 0...1e9).add("k", 1)
      try store.state.set("last", .int(number))
      if number % 100 == 0 { usleep(2000) }
    }
  }

  /// Opens the store as the next process would, and checks that a round is complete and applied once.
  private func check(atLeast number: Int64) throws -> Int64 {
    let store = try fixture.open()
    try store.state.setKey(StateFixture.key)
    let reached = try store.state.get("n")?.intValue ?? 0
    #expect(reached >= number)
    guard reached > 0 else { return 0 }
    #expect(try store.state.get("word") == .string("round \(reached)"))
    #expect(try store.state.scores("s", bounds: 0...1e9).value("k") == Double(reached))
    let items = try store.state.list("l", limit: 5).items().map(\.value)
    #expect(items == stride(from: reached, to: max(reached - 5, 0), by: -1).map { .int($0) })
    #expect(try store.state.set(named: "m").values().count == min(Int(reached), 7))
    #expect(!store.outbox.isSpooled)
    try store.database.close()
    return reached
  }

  @Test("flushed changes survive a kill, completely and once")
  func killed() throws {
    var reached: Int64 = 0
    for _ in 0..<4 {
      let before = told()
      let process = try OtherProcess("StateProcessTests/flusher", "flusher", "a", fixture.path)
      #expect(stateWaits { told() > before + 5 })
      usleep(UInt32.random(in: 0..<50_000))
      process.kill()
      reached = try check(atLeast: told())
    }
    #expect(reached > 20)
  }

  @Test("spooled changes survive a kill, and are drained once, also when the store became free meanwhile")
  func killedWhileSpooling() throws {
    for _ in 0..<3 {
      let before = told()
      let process = try OtherProcess("StateProcessTests/flusher", "flusher", "a", fixture.path)
      #expect(stateWaits { told() > before + 3 })
      // During its rounds the store is locked, released and locked again.
      for _ in 0..<3 {
        let blocker = try fixture.block()
        let start = told()
        #expect(stateWaits { told() > start + 3 && fixture.isSpooled })
        try blocker.rollback()
        usleep(UInt32.random(in: 0..<30_000))
      }
      let blocker = try fixture.block()
      let start = told()
      #expect(stateWaits { told() > start + 2 })
      process.kill()
      try blocker.rollback()
      _ = try check(atLeast: told())
    }
  }

  @Test("timed saves keep the order: never a later change without an earlier one")
  func order() throws {
    var last: Int64 = 0
    for _ in 0..<3 {
      let fixture = try StateFixture()
      // Created first, because only one process can create it.
      try fixture.open().database.close()
      let process = try OtherProcess("StateProcessTests/saver", "saver", "a", fixture.path)
      let isThere = try stateWaits {
        try (fixture.open().state.get("last")?.intValue ?? 0) > 100
      }
      #expect(isThere)
      process.kill()
      let store = try fixture.open()
      let first = try #require(try store.state.get("first")?.intValue)
      let score = Int64(try store.state.scores("s", bounds: 0...1e9).value("k"))
      last = try #require(try store.state.get("last")?.intValue)
      #expect(first >= score && score >= last && first <= last + 1)
    }
    #expect(last > 100)
  }
}
