import Satchel
import SatchelTesting

/// A source that answers as a test says, and keeps the requests.
final class ScriptedSource: ContentSource {
  typealias Answer = @Sendable (ContentRequest) throws -> ContentAnswer

  private let answer: Locked<Boxed>
  private let asked = Locked<[ContentRequest]>([])

  /// A function in a lock of its own would get another thunk with each use.
  private struct Boxed {
    var answer: Answer
  }

  init(_ answer: @escaping Answer) { self.answer = Locked(Boxed(answer: answer)) }

  convenience init(_ text: String, etag: String? = nil, maxAge: Int64? = nil) {
    self.init { _ in .content(Array(text.utf8), etag: etag, maxAge: maxAge) }
  }

  var requests: [ContentRequest] { asked.withLock { $0 } }
  func set(_ answer: @escaping Answer) { self.answer.withLock { $0.answer = answer } }

  func content(_ request: ContentRequest) throws -> ContentAnswer {
    asked.withLock { $0.append(request) }
    return try answer.withLock { $0 }.answer(request)
  }
}

/// One section of one place, which is asked for.
protocol RefreshingWeather {}

extension RefreshingWeather {
  func here() throws -> Location { try place("cn", "", "Shanghai") }

  func section(_ value: Int, hours: String = "1") -> String {
    #"{"section":"weather","content":{"now":{"t":\#(value),\#(tag("weather:now", "locality", hours: hours))}}}"#
  }

  func value(_ catalogue: Catalogue) throws -> JSONValue? {
    try catalogue.load("weather", at: here(), allowExpired: true)?.content.value(at: "now.t")
  }

  func forced() -> RefreshOptions {
    var options = RefreshOptions()
    options.force = true
    return options
  }
}
