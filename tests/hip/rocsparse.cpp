// link: -lrocsparse
// finds: sync:divergent-barrier sync:ended-before-barrier
// rocSPARSE: products and solvers on a band matrix whose numbers are small integers, so that results are exact. In
// csrmmnn_general_kernel of rocSPARSE some work-items leave before a barrier that the others come to.
#include "cases.h"
#include <rocsparse/rocsparse.h>

using std::vector;

const int N = 300;

#define ROC(call)                                                                                          \
  do {                                                                                                     \
    rocsparse_status status_ = (call);                                                                     \
    CHECK(status_ == rocsparse_status_success, "status %d", (int)status_);                                 \
  } while (0)

// Rows with the diagonal and what lies 1 and 7 before (and behind) it.
struct Csr {
  vector<int> row{0}, col;
  vector<double> val;
  explicit Csr(bool upper) {
    for (int i = 0; i < N; i++) {
      for (int d : {-7, -1, 0, 1, 7}) {
        if (i + d < 0 || i + d >= N || (d > 0 && !upper)) continue;
        col.push_back(i + d);
        val.push_back(d == 0 ? 1 : 1 + (i * 3 + d + 7) % 4);
      }
      row.push_back(col.size());
    }
  }
  vector<double> times(const vector<double> &x) const {
    vector<double> y(N);
    for (int i = 0; i < N; i++)
      for (int k = row[i]; k < row[i + 1]; k++) y[i] += val[k] * x[col[k]];
    return y;
  }
};

struct OnGpu {
  Device<int> row, col;
  Device<double> val;
  int nnz;
  explicit OnGpu(const Csr &m) : row(m.row), col(m.col), val(m.val), nnz(m.col.size()) {}
};

static rocsparse_handle handle() {
  static rocsparse_handle it = nullptr;
  if (!it) ROC(rocsparse_create_handle(&it));
  return it;
}

static vector<double> some(int n, int seed) {
  vector<double> v(n);
  for (int i = 0; i < n; i++) v[i] = (double)(mix(i + seed * 1000) % 17) - 8;
  return v;
}

static void same(const vector<double> &got, const vector<double> &want) {
  HIP(hipDeviceSynchronize());
  for (size_t i = 0; i < want.size(); i++) CHECK(got[i] == want[i], "at %zu: %g, not %g", i, got[i], want[i]);
}

CASE(axpyi) {
  auto x = some(50, 1), y = some(N, 2);
  vector<int> at(50);
  for (int i = 0; i < 50; i++) at[i] = i * 5 + 2;
  Device<double> dx(x), dy(y);
  Device<int> di(at);
  double a = 3;
  ROC(rocsparse_daxpyi(handle(), 50, &a, dx.p, di.p, dy.p, rocsparse_index_base_zero));
  for (int i = 0; i < 50; i++) y[at[i]] += a * x[i];
  same(dy.get(), y);
}

CASE(doti) {
  auto x = some(50, 3), y = some(N, 4);
  vector<int> at(50);
  for (int i = 0; i < 50; i++) at[i] = i * 5 + 1;
  Device<double> dx(x), dy(y);
  Device<int> di(at);
  double got = -1, want = 0;
  ROC(rocsparse_ddoti(handle(), 50, dx.p, di.p, dy.p, &got, rocsparse_index_base_zero));
  HIP(hipDeviceSynchronize());
  for (int i = 0; i < 50; i++) want += x[i] * y[at[i]];
  CHECK(got == want, "%g, not %g", got, want);
}

CASE(gather) {
  auto y = some(N, 5);
  vector<int> at(60);
  for (int i = 0; i < 60; i++) at[i] = (int)(mix(i) % N);
  Device<double> dy(y), dx(60);
  Device<int> di(at);
  ROC(rocsparse_dgthr(handle(), 60, dy.p, dx.p, di.p, rocsparse_index_base_zero));
  vector<double> want(60);
  for (int i = 0; i < 60; i++) want[i] = y[at[i]];
  same(dx.get(), want);
}

CASE(matrix_times_vector) {
  Csr m(true);
  OnGpu d(m);
  auto x = some(N, 6), y = some(N, 7), want = m.times(x);
  Device<double> dx(x), dy(y);
  rocsparse_mat_descr descr;
  ROC(rocsparse_create_mat_descr(&descr));
  double alpha = 2, beta = -1;
  ROC(rocsparse_dcsrmv(handle(), rocsparse_operation_none, N, N, d.nnz, &alpha, descr, d.val.p, d.row.p, d.col.p, nullptr, dx.p, &beta, dy.p));
  for (int i = 0; i < N; i++) want[i] = alpha * want[i] + beta * y[i];
  same(dy.get(), want);
  ROC(rocsparse_destroy_mat_descr(descr));
}

CASE(matrix_times_matrix) {
  Csr m(true);
  OnGpu d(m);
  const int columns = 9;
  auto b = some(N * columns, 8);
  Device<double> db(b), dc(vector<double>(N * columns, 0));
  rocsparse_mat_descr descr;
  ROC(rocsparse_create_mat_descr(&descr));
  double alpha = 1, beta = 0;
  ROC(rocsparse_dcsrmm(handle(), rocsparse_operation_none, rocsparse_operation_none, N, columns, N, d.nnz, &alpha, descr, d.val.p, d.row.p, d.col.p, db.p, N, &beta, dc.p, N));
  vector<double> want;
  for (int c = 0; c < columns; c++) {
    auto y = m.times(vector<double>(b.begin() + c * N, b.begin() + (c + 1) * N));
    want.insert(want.end(), y.begin(), y.end());
  }
  same(dc.get(), want);
  ROC(rocsparse_destroy_mat_descr(descr));
}

CASE(triangular_solve) {
  // Small values keep what a row needs of the others from growing.
  Csr m(false);
  for (int i = 0; i < N; i++)
    for (int k = m.row[i]; k < m.row[i + 1]; k++) m.val[k] = m.col[k] == i ? 1 : (i + k) % 3 - 1;
  OnGpu d(m);
  auto x = some(N, 9), y = m.times(x);
  Device<double> dy(y), dx(N);
  rocsparse_mat_descr descr;
  rocsparse_mat_info info;
  ROC(rocsparse_create_mat_descr(&descr));
  ROC(rocsparse_set_mat_fill_mode(descr, rocsparse_fill_mode_lower));
  ROC(rocsparse_create_mat_info(&info));
  size_t size = 0;
  auto none = rocsparse_operation_none;
  ROC(rocsparse_dcsrsv_buffer_size(handle(), none, N, d.nnz, descr, d.val.p, d.row.p, d.col.p, info, &size));
  Device<char> buffer(size);
  ROC(rocsparse_dcsrsv_analysis(handle(), none, N, d.nnz, descr, d.val.p, d.row.p, d.col.p, info, rocsparse_analysis_policy_force, rocsparse_solve_policy_auto, buffer.p));
  double alpha = 1;
  ROC(rocsparse_dcsrsv_solve(handle(), none, N, d.nnz, &alpha, descr, d.val.p, d.row.p, d.col.p, info, dy.p, dx.p, rocsparse_solve_policy_auto, buffer.p));
  same(dx.get(), x);
  ROC(rocsparse_destroy_mat_info(info));
  ROC(rocsparse_destroy_mat_descr(descr));
}

CASE(incomplete_lu) {
  Csr m(true);
  for (int i = 0; i < N; i++)
    for (int k = m.row[i]; k < m.row[i + 1]; k++) m.val[k] = m.col[k] == i ? 16 : m.col[k] < i ? 8 : 4;
  OnGpu d(m);
  rocsparse_mat_descr descr;
  rocsparse_mat_info info;
  ROC(rocsparse_create_mat_descr(&descr));
  ROC(rocsparse_create_mat_info(&info));
  size_t size = 0;
  ROC(rocsparse_dcsrilu0_buffer_size(handle(), N, d.nnz, descr, d.val.p, d.row.p, d.col.p, info, &size));
  Device<char> buffer(size);
  ROC(rocsparse_dcsrilu0_analysis(handle(), N, d.nnz, descr, d.val.p, d.row.p, d.col.p, info, rocsparse_analysis_policy_force, rocsparse_solve_policy_auto, buffer.p));
  ROC(rocsparse_dcsrilu0(handle(), N, d.nnz, descr, d.val.p, d.row.p, d.col.p, info, rocsparse_solve_policy_auto, buffer.p));
  // The textbook's algorithm on the same pattern, row by row.
  auto at = [&](int i, int j) -> double * {
    for (int k = m.row[i]; k < m.row[i + 1]; k++)
      if (m.col[k] == j) return &m.val[k];
    return nullptr;
  };
  for (int i = 0; i < N; i++)
    for (int k = m.row[i]; k < m.row[i + 1] && m.col[k] < i; k++) {
      m.val[k] /= *at(m.col[k], m.col[k]);
      for (int l = k + 1; l < m.row[i + 1]; l++)
        if (double *u = at(m.col[k], m.col[l])) m.val[l] -= m.val[k] * *u;
    }
  HIP(hipDeviceSynchronize());
  auto got = d.val.get();
  for (size_t k = 0; k < got.size(); k++) {
    double error = got[k] - m.val[k];
    CHECK(error < 1e-12 && error > -1e-12, "at %zu: %.17g, not %.17g", k, got[k], m.val[k]);
  }
  ROC(rocsparse_destroy_mat_info(info));
  ROC(rocsparse_destroy_mat_descr(descr));
}
