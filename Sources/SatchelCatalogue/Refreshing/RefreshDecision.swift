import SatchelCore
import SatchelStorage

/// The stored part of the content that a request would ask for.
struct StoredContent: Equatable {
  /// Whether anything is stored.
  var isStored = false
  /// When the section was last delivered or renewed; of several, the one of which that is longest ago.
  var fetchedAt = Int64.max
  /// The entity tag that all sections have; nil when they have none, or different ones.
  var etag: String?
  /// The ids of entities whose content is no longer stored.
  var missing: [String] = []
  var expired: [String] = []
  /// Whether the time to live of a section has passed.
  var isStale = false

  /// Whether readers miss content, rather than get old content.
  var isIncomplete: Bool { !isStored || !missing.isEmpty || !expired.isEmpty || isStale }
}

/// Whether to send a request, by what is stored and what is known of earlier requests. A pure function of these.
enum RefreshDecision: Equatable {
  case ask(etag: String?, entities: [String], attempt: Int, isUrgent: Bool)
  case skip(RefreshReport.Skipped.Reason)
  /// Another call has the lease.
  case wait

  /// A lease that is older is void even if its owner lives: its source does not return.
  static let leaseDuration: Int64 = 10 * 60 * 1000

  /// - Parameters:
  ///   - row: the last request for the same; nil when nothing is known
  ///   - place: of a section, the last request for all of the location
  ///   - isAlive: whether the owner of a lease is alive
  static func make(
    _ stored: StoredContent, _ row: RefreshRow?, place: RefreshRow? = nil, force: Bool, staleAfter: Int64,
    now: Int64, isAlive: (String) -> Bool
  ) -> RefreshDecision {
    if let row {
      let elapsed = row.elapsed(at: now)
      if let owner = row.owner, elapsed < leaseDuration, isAlive(owner) { return .wait }
      if let wait = row.wait, elapsed < wait, !force || row.isDemanded { return .skip(.waiting) }
    }
    // A delivery since the answer has its own time.
    let answers = (stored.isStored ? [row, place] : [row]).compactMap { $0 }.filter {
      $0.freshFor != nil && (!stored.isStored || stored.fetchedAt <= $0.askedAt)
    }
    let answer = answers.max { $0.askedAt < $1.askedAt }
    if !force, isFresh(stored, answer, staleAfter: staleAfter, now: now) { return .skip(.fresh) }
    return .ask(
      etag: stored.isStored && stored.missing.isEmpty ? stored.etag : nil,
      entities: stored.missing + stored.expired, attempt: (row?.attempts ?? 0) + 1,
      isUrgent: force || stored.isIncomplete)
  }

  /// - Parameter answer: the last one that says how long it is fresh; also that there is nothing
  private static func isFresh(
    _ stored: StoredContent, _ answer: RefreshRow?, staleAfter: Int64, now: Int64
  ) -> Bool {
    if stored.isStored, stored.isIncomplete { return false }
    if let answer, let freshFor = answer.freshFor { return answer.elapsed(at: now) < freshFor }
    guard stored.isStored, !StoreClock.isAhead(stored.fetchedAt, of: now) else { return false }
    return now - stored.fetchedAt < staleAfter
  }
}

extension RefreshRow {
  /// The time since the request; a time that a clock which was ahead has written is long ago.
  fileprivate func elapsed(at now: Int64) -> Int64 {
    StoreClock.isAhead(askedAt, of: now) ? .max : max(now - askedAt, 0)
  }
}

/// The time from a failure to the next request.
enum RefreshBackoff {
  /// The longest time that a source can demand.
  private static let longestDemand: Int64 = 24 * 60 * 60 * 1000

  /// - Parameters:
  ///   - attempts: the failures so far, this one included
  ///   - jitter: 0 to 1
  /// - Returns: milliseconds, and whether the source demands them
  static func wait(afterAttempts attempts: Int, _ failure: SourceFailure, jitter: Double) -> (
    Int64, isDemanded: Bool
  ) {
    let wait = Backoff.wait(afterAttempts: attempts, isFinal: failure.isFinal, jitter: jitter)
    guard let demanded = failure.retryAfter else { return (wait, false) }
    let least = min(max(demanded, 0), longestDemand / 1000) * 1000
    return least > wait ? (least + Int64(Double(min(least / 10, 60_000)) * jitter), true) : (wait, least > 0)
  }
}
