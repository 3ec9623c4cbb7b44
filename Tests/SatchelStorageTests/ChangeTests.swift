import SatchelJSON
import Testing

import SatchelStorage

@Suite("Changes")
struct ChangeTests {
  @Test("a change is read from the change log as it was reported")
  func log() throws {
    let fixture = try StorageFixture()
    let (writer, reader) = (try fixture.open(), try fixture.open())
    let (own, others) = (ObservedChanges(), ObservedChanges())
    let subscriptions = [try writer.observe { own.add($0) }, try reader.observe { others.add($0) }]
    try writer.write { transaction in
      transaction.note(subject: .catalogue, keys: ["a", "a", "*"], sectionCount: 1, place: "cn")
      transaction.note(subject: .catalogue, keys: ["*"], sectionCount: 1)
      transaction.note(subject: .stories, keys: ["*"])
      transaction.note(.drained, of: .state)
    }
    #expect(others.reaches(4))
    var expected = own.all
    for position in expected.indices { expected[position].isOwn = false }
    #expect(others.all == expected)
    #expect(own.all.map(\.concernsAll) == [false, false, true, false])
    #expect(own.all.map(\.event) == [nil, nil, nil, .drained])
    subscriptions.forEach { $0.cancel() }
  }

  @Test("a change prints as the JSON of the C interface")
  func json() throws {
    let change = Change(
      subject: .catalogue, keys: ["s", "s:1"], sectionCount: 1, place: "cn", isOwn: true, revision: 7)
    let text =
      #"{"subject":"catalogue","keys":["s","s:1"],"section_count":1,"place":"cn","own":true,"revision":7}"#
    #expect("\(change)" == text)
    #expect(try change.json.text == text)
  }

  @Test("only records and state have events, and an event of a newer version is no content")
  func events() {
    func change(_ subject: Change.Subject, _ key: String) -> Change {
      Change(subject: subject, keys: [key], place: nil, isOwn: true, revision: 1)
    }
    for event in Change.Event.allCases {
      #expect(change(.records, event.rawValue).event == event)
      #expect(change(.state, event.rawValue).event == event)
      #expect(change(.catalogue, event.rawValue).event == nil)
      #expect(change(.catalogue, event.rawValue).keys(of: .catalogue) == [event.rawValue])
    }
    let newer = change(.records, "@newer")
    #expect(newer.event == nil && newer.keys(of: .records).isEmpty)
    #expect(change(.records, "c/@spooled").event == nil)
  }
}
