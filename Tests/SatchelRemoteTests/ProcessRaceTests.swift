import Foundation
import SatchelTesting
import Testing

import SatchelRemote

/// Two processes and one directory. The other process is this test program, started with the single test
/// `contestant`.
@Suite("A directory shared by processes")
struct ProcessRaceTests {
  private static let rounds = 100

  let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  private func start(_ role: String, _ name: String) throws -> OtherProcess {
    try OtherProcess("ProcessRaceTests/contestant", role, name, directory.path)
  }

  @Test(
    "a process without rivals wins every round; with rivals it records the rounds that it has won")
  func contestant() throws {
    if let race = OtherProcess.role("race") {
      let store = try DirectoryStore(path: race.path)
      let number = try #require(Int(race.name))
      // Both begin at the same time.
      try store.put(ObjectKey("here/\(number)"), [])
      let end = Date() + 60
      while try store.list(ObjectPrefix("here/")).count < 2, Date() < end { usleep(200) }
      let won = try Contest.first(number, rounds: Self.rounds, store: store)
      try Contest.count(Self.rounds, in: store)
      try store.put(ObjectKey("won/\(number)"), Array(won.map(String.init).joined(separator: " ").utf8))
    } else if let writing = OtherProcess.role("writer") {
      let store = try DirectoryStore(path: writing.path)
      var number = 0
      while true {
        number += 1
        let body = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 300_000)
        try store.put(ObjectKey("object"), body, metadata: ObjectMetadata(["byte": "\(body[0])"]))
      }
    } else {
      let won = try Contest.first(0, rounds: 5, store: DirectoryStore(path: directory.path))
      #expect(won == Array(0..<5))
    }
  }

  @Test("exactly one of two processes wins each round, and no count is lost")
  func race() throws {
    let store = try DirectoryStore(path: directory.path)
    try store.put(ObjectKey("number"), Array("0".utf8))
    let processes = try [start("race", "0"), start("race", "1")]
    for process in processes { #expect(process.finish()) }
    var reported: [Int] = []
    for number in 0..<2 {
      let text = String(decoding: try store.get(ObjectKey("won/\(number)")).body, as: UTF8.self)
      let won = text.split(separator: " ").compactMap { Int($0) }
      for round in won {
        #expect(try store.get(ObjectKey("rounds/\(round)")).body == Array("\(number)".utf8))
      }
      reported += won
    }
    #expect(reported.sorted() == Array(0..<Self.rounds))
    #expect(try store.get(ObjectKey("number")).body == Array("\(2 * Self.rounds)".utf8))
  }

  @Test("a killed writer leaves a complete object and no lock", arguments: 0..<8)
  func killed(turn: Int) throws {
    let key = try ObjectKey("object")
    let store = try DirectoryStore(path: directory.path, timeout: 2000)
    let process = try start("writer", "a")
    let end = Date() + 60
    while (try? store.head(key)) == nil, Date() < end { usleep(500) }
    usleep(UInt32.random(in: 0...8000))
    #expect(process.kill())
    let object = try store.get(key)
    let byte = try #require(object.body.first)
    #expect(object.body.count == 300_000)
    #expect(object.body.allSatisfy { $0 == byte })
    #expect(object.metadata["byte"] == "\(byte)")
    let reopened = try DirectoryStore(path: directory.path, timeout: 2000)
    try reopened.put(key, [1], condition: .ifMatch(object.etag))
    #expect(try directory.files() == [".satchel/lock", ".satchel/remote.json", "object"])
  }
}
